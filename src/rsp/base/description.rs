//! `qXfer:features`: the target description, whole in `target.xml`.

use gdbstub::target::ext::target_description_xml_override::TargetDescriptionXmlOverride;
use gdbstub::target::{TargetError, TargetResult};

use super::target::copy_part;
use crate::rsp::client::Client;

impl TargetDescriptionXmlOverride for Client {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        match &self.session.replay().recording().target().description {
            Some(description) if annex == b"target.xml" => {
                Ok(copy_part(description.as_bytes(), offset, length, buffer))
            }
            _ => Err(TargetError::NonFatal),
        }
    }
}

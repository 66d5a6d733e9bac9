//! Where the trace of data, which is a stream of its own, belongs in that of instructions.

use super::{Fault, Packet, Packets};

impl Packets<'_> {
    pub(super) fn data_synchronization(&self, header: u8) -> Result<Packet, Fault> {
        if !self.configuration.has_data {
            let packet = "a data synchronization marker";
            let reason = "TRCIDR0 says that it traces no data";
            return Err(Fault::Impossible { packet, header, reason });
        }
        Ok(Packet::DataSynchronization)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::made::{CONDITIONAL, ETM, damage, packets};
    use super::*;

    #[test]
    fn only_a_source_that_traces_data_sends_it() {
        assert_eq!(packets(CONDITIONAL, &[0x20, 0x27, 0x28, 0x2c]), [Packet::DataSynchronization; 4]);
        assert_eq!(
            damage(ETM, &[0x20]),
            "at byte 0x0: found a data synchronization marker (first byte 0x20), which this source cannot send: \
             TRCIDR0 says that it traces no data"
        );
    }
}

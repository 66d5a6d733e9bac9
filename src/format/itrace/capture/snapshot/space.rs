//! In which states of a core something lies in memory.

use std::fmt;
use std::str::FromStr;

use super::super::DescriptionError;

/// In which states of a core something lies in memory: the security state, and the exception level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Space {
    /// In all (`ANY`, or nothing said).
    #[default]
    Any,
    /// Secure (`S`).
    Secure,
    /// Not secure (`N`).
    NonSecure,
    /// Realm (`R`).
    Realm,
    /// Root: EL3 where there are realms (`ROOT`).
    Root,
    /// EL3 where there are none, which is secure (`EL3`).
    El3,
    /// EL0 and EL1, secure (`EL1S`).
    El1Secure,
    /// EL0 and EL1, not secure (`EL1N`).
    El1NonSecure,
    /// EL0 and EL1, realm (`EL1R`).
    El1Realm,
    /// EL2, secure (`EL2S`).
    El2Secure,
    /// EL2, not secure (`EL2`, `EL2N`).
    El2NonSecure,
    /// EL2, realm (`EL2R`).
    El2Realm,
}

/// The names that are asked for.
pub(in super::super) const SPACES: &str = "ANY, S, N, R, EL1S, EL1N, EL1R, EL2S, EL2N, EL2R, EL3, ROOT";

/// A security state, as one bit each.
const SECURE: u8 = 1;
const NON_SECURE: u8 = 2;
const REALM: u8 = 4;
const ROOT: u8 = 8;

impl Space {
    /// Whether a core in this state sees what lies here. `is_extended` says that the state is one that the Realm
    /// Management Extension adds: root if secure, else realm.
    pub fn includes(self, exception_level: u8, is_secure: bool, is_extended: bool) -> bool {
        let state = match (is_secure, is_extended) {
            (true, false) => SECURE,
            (false, false) => NON_SECURE,
            (false, true) => REALM,
            (true, true) => ROOT,
        };
        let (states, levels) = self.parts();
        states & state != 0 && levels & 1u8.checked_shl(exception_level.into()).unwrap_or(0) != 0
    }

    /// Whether there is a state in which both are seen.
    pub(super) fn meets(self, other: Space) -> bool {
        let ((states, levels), (others, other_levels)) = (self.parts(), other.parts());
        states & others != 0 && levels & other_levels != 0
    }

    /// The security states, and a bit for each exception level.
    fn parts(self) -> (u8, u8) {
        match self {
            Space::Any => (SECURE | NON_SECURE | REALM | ROOT, 0b1111),
            Space::Secure => (SECURE, 0b1111),
            Space::NonSecure => (NON_SECURE, 0b1111),
            Space::Realm => (REALM, 0b1111),
            Space::Root => (ROOT, 0b1111),
            Space::El3 => (SECURE, 0b1000),
            Space::El1Secure => (SECURE, 0b0011),
            Space::El1NonSecure => (NON_SECURE, 0b0011),
            Space::El1Realm => (REALM, 0b0011),
            Space::El2Secure => (SECURE, 0b0100),
            Space::El2NonSecure => (NON_SECURE, 0b0100),
            Space::El2Realm => (REALM, 0b0100),
        }
    }
}

impl FromStr for Space {
    type Err = DescriptionError;

    fn from_str(name: &str) -> Result<Space, DescriptionError> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "ANY" | "" => Space::Any,
            "S" => Space::Secure,
            "N" => Space::NonSecure,
            "R" => Space::Realm,
            "ROOT" => Space::Root,
            "EL3" => Space::El3,
            // The last of each are older names: privileged, and the hypervisor's.
            "EL1S" | "SP" => Space::El1Secure,
            "EL1N" | "P" | "NP" => Space::El1NonSecure,
            "EL1R" => Space::El1Realm,
            "EL2S" => Space::El2Secure,
            "EL2" | "EL2N" | "H" => Space::El2NonSecure,
            "EL2R" => Space::El2Realm,
            _ => return Err(DescriptionError::Space { found: name.to_owned() }),
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Any => "ANY",
            Space::Secure => "S",
            Space::NonSecure => "N",
            Space::Realm => "R",
            Space::Root => "ROOT",
            Space::El3 => "EL3",
            Space::El1Secure => "EL1S",
            Space::El1NonSecure => "EL1N",
            Space::El1Realm => "EL1R",
            Space::El2Secure => "EL2S",
            Space::El2NonSecure => "EL2N",
            Space::El2Realm => "EL2R",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in SPACES.split(", ") {
            assert_eq!(name.parse::<Space>().unwrap().to_string(), name);
        }
        let error = "EL4".parse::<Space>().unwrap_err().to_string();
        assert_eq!(
            error,
            "the space is \"EL4\", expected one of ANY, S, N, R, EL1S, EL1N, EL1R, EL2S, EL2N, EL2R, EL3, ROOT"
        );
    }

    #[test]
    fn a_state_is_in_its_spaces() {
        assert!(Space::El1NonSecure.includes(0, false, false) && !Space::El1NonSecure.includes(2, false, false));
        assert!(Space::Root.includes(3, true, true) && !Space::Root.includes(3, true, false));
        assert!(Space::El3.includes(3, true, false) && Space::Secure.includes(3, true, false));
        assert!(Space::Realm.includes(2, false, true) && !Space::NonSecure.includes(2, false, true));
        assert!((0..=3).all(|level| Space::Any.includes(level, true, false)));
        assert!(!Space::Any.includes(200, true, false));
        assert!(Space::Any.meets(Space::Root) && Space::Secure.meets(Space::El3));
        assert!(!Space::Secure.meets(Space::NonSecure) && !Space::El1Secure.meets(Space::El3));
    }
}

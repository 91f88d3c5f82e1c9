//! Rotations are written as unit quaternions x y z w, so that what is read back is always a rotation.

use crate::spatial::Rotation;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Further from unit length, a quaternion is taken for a mistake.
const FURTHEST: f64 = 1e-3;

impl Serialize for Rotation {
    fn serialize<W: Serializer>(&self, serializer: W) -> Result<W::Ok, W::Error> {
        self.to_quaternion().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        let quaternion = <[f64; 4]>::deserialize(deserializer)?;
        let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (norm - 1.0).abs() <= FURTHEST {
            Ok(Self::from_quaternion(quaternion.map(|x| x / norm)))
        } else {
            Err(R::Error::custom(format!(
                "a rotation is a unit quaternion x y z w; this one has the length {norm}"
            )))
        }
    }
}

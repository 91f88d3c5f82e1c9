//! Vectors, rotations, poses and spatial vectors of nalgebra. Its spatial vectors are angular first here, as ours.

use crate::spatial::{Force, Motion, Pose, Rotation, Vec3};
use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3, Vector6};

impl From<Vec3> for Vector3<f64> {
    fn from(v: Vec3) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl From<Vector3<f64>> for Vec3 {
    fn from(v: Vector3<f64>) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl From<Vec3> for Point3<f64> {
    fn from(v: Vec3) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl From<Point3<f64>> for Vec3 {
    fn from(p: Point3<f64>) -> Self {
        Self::new(p.x, p.y, p.z)
    }
}

impl From<Rotation> for Rotation3<f64> {
    fn from(r: Rotation) -> Self {
        Self::from_matrix_unchecked(Matrix3::from_columns(&[r.x.into(), r.y.into(), r.z.into()]))
    }
}

impl From<Rotation3<f64>> for Rotation {
    fn from(r: Rotation3<f64>) -> Self {
        let column = |i: usize| Vec3::new(r[(0, i)], r[(1, i)], r[(2, i)]);
        Self {
            x: column(0),
            y: column(1),
            z: column(2),
        }
    }
}

impl From<Rotation> for UnitQuaternion<f64> {
    fn from(r: Rotation) -> Self {
        let [x, y, z, w] = r.to_quaternion();
        Self::new_normalize(Quaternion::new(w, x, y, z))
    }
}

impl From<UnitQuaternion<f64>> for Rotation {
    fn from(q: UnitQuaternion<f64>) -> Self {
        Self::from_quaternion([q.i, q.j, q.k, q.w])
    }
}

impl From<Pose> for Isometry3<f64> {
    fn from(pose: Pose) -> Self {
        let translation = Translation3::from(Vector3::from(pose.translation));
        Self::from_parts(translation, pose.rotation.into())
    }
}

impl From<Isometry3<f64>> for Pose {
    fn from(pose: Isometry3<f64>) -> Self {
        Self {
            rotation: pose.rotation.into(),
            translation: pose.translation.vector.into(),
        }
    }
}

macro_rules! six {
    ($ours:ident) => {
        impl From<$ours> for Vector6<f64> {
            fn from(x: $ours) -> Self {
                x.to_array().into()
            }
        }

        impl From<Vector6<f64>> for $ours {
            fn from(x: Vector6<f64>) -> Self {
                Self::from_array(x.into())
            }
        }
    };
}

six!(Motion);
six!(Force);

//! What bore in a run: a cloud of points in an MCAP log, or a file of `--contact-log`.

use crate::simulate::log::FIELDS;
use linkwork::spatial::Vec3;
use linkwork_view::{Arrow, ArrowKind};

fn arrow([x, y, z, u, v, w]: [f64; 6]) -> Arrow {
    Arrow {
        kind: ArrowKind::Contact,
        point: Vec3::new(x, y, z),
        force: Vec3::new(u, v, w),
    }
}

/// The points of a cloud as our logs write it; none if it is of another make.
pub(super) fn cloud(message: &[u8]) -> Option<Vec<Arrow>> {
    let mut input = Cdr {
        bytes: message.get(4..)?,
        at: 0,
    };
    input.word()?;
    input.word()?;
    input.text()?;
    let (height, width) = (input.word()?, input.word()?);
    let fields = input.word()?;
    if height != 1 || fields as usize != FIELDS.len() {
        return None;
    }
    for name in FIELDS {
        let same = input.text()? == name.as_bytes();
        input.word()?;
        input.byte()?;
        input.word()?;
        if !same {
            return None;
        }
    }
    input.byte()?;
    input.word()?;
    input.word()?;
    let length = input.word()? as usize;
    let numbers = input.take(length)?.as_chunks::<4>().0;
    let points = numbers.as_chunks::<{ FIELDS.len() }>().0;
    (points.len() == width as usize).then(|| {
        let number = |point: &[[u8; 4]; FIELDS.len()], i: usize| f64::from(f32::from_le_bytes(point[i]));
        points
            .iter()
            .map(|point| arrow(std::array::from_fn(|i| number(point, i))))
            .collect()
    })
}

/// A message that is being read; places are counted after its head.
struct Cdr<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cdr<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    fn word(&mut self) -> Option<u32> {
        self.at = self.at.next_multiple_of(4);
        self.take(4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        self.take(length)?.strip_suffix(&[0])
    }
}

/// What a file of `--contact-log` says for each of some times: the contacts of the step that ended there.
pub(super) fn listed(text: &str, times: &[f64]) -> Result<Vec<Vec<Arrow>>, String> {
    let mut lines = text.lines().enumerate();
    let head = lines.next().map(|(_, head)| head).unwrap_or_default();
    let names: Vec<&str> = head.split(',').collect();
    let place = |name: &str| {
        let found = names.iter().position(|n| *n == name);
        found.ok_or_else(|| format!("has no column `{name}`"))
    };
    let columns = ["t", "x", "y", "z", "fx", "fy", "fz"].map(place);
    let mut wanted = [0; 7];
    for (i, column) in columns.into_iter().enumerate() {
        wanted[i] = column?;
    }
    // Steps that bear something, by their beginnings.
    let mut steps: Vec<(f64, Vec<Arrow>)> = Vec::new();
    for (i, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let words = super::csv::fields(line);
        let mut numbers = [0.0; 7];
        for (number, at) in numbers.iter_mut().zip(wanted) {
            let word = words.get(at).ok_or_else(|| format!("line {} is too short", i + 1))?;
            let read = word.parse().ok().filter(|x: &f64| x.is_finite());
            *number = read.ok_or_else(|| format!("line {}: `{word}` is not a number", i + 1))?;
        }
        let [t, rest @ ..] = numbers;
        match steps.last_mut() {
            Some((last, list)) if *last == t => list.push(arrow(rest)),
            Some((last, _)) if t < *last => return Err(format!("line {}: its time goes back", i + 1)),
            _ => steps.push((t, vec![arrow(rest)])),
        }
    }
    let longest = 1.5 * steps.windows(2).map(|w| w[1].0 - w[0].0).fold(f64::INFINITY, f64::min);
    let at = |t: &f64| {
        let after = steps.partition_point(|(begun, _)| *begun < t - 1e-9);
        let step = after.checked_sub(1).map(|i| &steps[i]);
        step.filter(|(begun, _)| t - begun < longest)
            .map_or_else(Vec::new, |(_, list)| list.clone())
    };
    Ok(times.iter().map(at).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_the_contacts_of_the_step_that_ended_there() {
        let text = "t,id,a,b,x,y,z,nx,ny,nz,gap,fx,fy,fz,along,region\n\
            0.1,1,\"a, b\",\"g\",1,2,3,0,0,1,0,4,5,6,6,Stick\n0.1,2,\"a\",\"g\",1,2,3,0,0,1,0,4,5,7,6,Stick\n\
            0.2,1,\"a\",\"g\",1,2,3,0,0,1,0,4,5,8,6,Stick\n";
        let found = listed(text, &[0.0, 0.1, 0.2, 0.3, 0.5]).expect("it is fine");
        let forces: Vec<Vec<f64>> = found.iter().map(|l| l.iter().map(|a| a.force.z).collect()).collect();
        assert_eq!(forces, [vec![], vec![], vec![6.0, 7.0], vec![8.0], vec![]]);
        assert!(listed("t,x\n", &[0.0]).is_err_and(|e| e.contains("`y`")));
        assert!(listed(&text.replace("0.2,", "0.05,"), &[0.0]).is_err_and(|e| e.contains("goes back")));
    }
}

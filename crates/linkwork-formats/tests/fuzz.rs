//! A hundred thousand damaged files, the same on every run: nothing panics, and what loads has finite dynamics.

mod support;

use linkwork_formats::{Format, Mode, write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{dynamics_are_finite, parse};

const INPUTS: u64 = 100_000;

/// Words that readers may stumble over.
const WORDS: [&str; 50] = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "1e300",
    "-1e30",
    "1e30",
    "1e-320",
    "-0",
    "0",
    "1",
    "-1",
    "0,5",
    "1e",
    "\"",
    "'",
    "<",
    ">",
    "/>",
    "</",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "&amp;",
    "&#0;",
    "&#x110000;",
    "&x;",
    "world",
    "base",
    "",
    " ",
    "\n",
    "\u{0}",
    "é",
    "name=\"base\"",
    "type=\"floating\"",
    "type=\"planar\"",
    "class=\"thin\"",
    "type=\"ball\"",
    "0 0 0",
    "${r}",
    "${[r] * 99}",
    "$(arg count)",
    "xacro:chain",
    "relative_to=\"elbow\"",
    "__model__",
    "a::b",
    "type=\"gearbox\"",
];

/// The SplitMix64 generator (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    /// A piece of a text, seldom long.
    fn piece(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        let most = [1, 4, 20, 200][self.below(4)];
        start..(start + self.below(most) + 1).min(length)
    }

    /// Where a number, a name or a value stands between quotes or blanks.
    fn word(&mut self, text: &[u8]) -> std::ops::Range<usize> {
        let edge = |b: &u8| b" \"'<>=\n,[]{}:".contains(b);
        let start = self.below(text.len());
        let start = text[..start].iter().rposition(edge).map_or(0, |i| i + 1);
        let end = text[start..].iter().position(edge).map_or(text.len(), |i| start + i);
        start..end
    }

    fn mutate(&mut self, text: &mut Vec<u8>, seeds: &[(Format, &str)]) {
        if text.is_empty() {
            return;
        }
        match self.below(8) {
            0 => {
                let at = self.below(text.len());
                text[at] ^= 1 << self.below(8);
            }
            1 => drop(text.drain(self.piece(text.len()))),
            2 => {
                let copy = text[self.piece(text.len())].to_vec();
                let at = self.below(text.len());
                text.splice(at..at, copy);
            }
            3 => text.truncate(self.below(text.len())),
            4 => {
                let other = seeds[self.below(seeds.len())].1.as_bytes();
                let piece = other[self.piece(other.len())].to_vec();
                let place = self.piece(text.len());
                text.splice(place, piece);
            }
            // Most of all words for words, which keep the markup whole.
            _ => {
                let place = self.word(text);
                let new = match self.below(2) {
                    0 => WORDS[self.below(WORDS.len())].as_bytes().to_vec(),
                    _ => text[self.word(text)].to_vec(),
                };
                text.splice(place, new);
            }
        }
    }
}

#[test]
fn a_hundred_thousand_damaged_files_do_no_harm() {
    let everything = parse(Format::Urdf, include_bytes!("files/everything.urdf"), Mode::Warn).expect("it loads");
    let native = write(&everything, Format::Native).expect("it can say all").text;
    let seeds = [
        (Format::Native, native.as_str()),
        (Format::Urdf, include_str!("files/everything.urdf")),
        (Format::Mjcf, include_str!("files/arm.xml")),
        (Format::Mjcf, include_str!("files/pendulums.xml")),
        (Format::Sdf, include_str!("files/sdf/arm.sdf")),
        (Format::Sdf, include_str!("files/sdf/four_bar.sdf")),
        (Format::Urdf, include_str!("files/xacro/small.xacro")),
        (Format::Mjcf, include_str!("files/expanded.xml")),
    ];
    for (format, text) in &seeds {
        let robot = parse(*format, text.as_bytes(), Mode::Warn).expect("seeds load");
        assert!(dynamics_are_finite(&robot));
    }
    let mut loaded = 0;
    for i in 0..INPUTS {
        let mut random = Random(i);
        let (format, seed) = seeds[i as usize % seeds.len()];
        let mut text = seed.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            random.mutate(&mut text, &seeds);
        }
        let mode = [Mode::Strict, Mode::Warn, Mode::Repair][random.below(3)];
        let sound = catch_unwind(AssertUnwindSafe(|| match parse(format, &text, mode) {
            Ok(robot) => {
                loaded += 1;
                dynamics_are_finite(&robot)
            }
            Err(refusal) => !refusal.report.findings.is_empty(),
        }));
        assert!(
            matches!(sound, Ok(true)),
            "input {i}, {mode:?}, {sound:?}:\n{}",
            String::from_utf8_lossy(&text)
        );
    }
    // Damage that nobody notices would test nothing, and so would damage that is always noticed at once.
    assert!(loaded > INPUTS / 20 && loaded < INPUTS * 9 / 10, "{loaded}");
}

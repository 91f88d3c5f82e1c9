//! Straight-line code from a tape: a function without loops, branches, allocation or dependencies.

use super::Language;
use super::bare::{BARE_LOGARITHM, BARE_ROOT};
use super::trace::{From, Tape, Traced};
use std::fmt::Write;

/// An argument of the function.
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) length: usize,
    /// What it is, for the comment.
    pub(crate) about: String,
}

/// All that the function is made of.
pub(crate) struct Function<'a> {
    pub(crate) tape: &'a Tape,
    pub(crate) arguments: &'a [Argument],
    pub(crate) results: &'a [Traced],
    /// Comment lines.
    pub(crate) about: &'a str,
}

/// How long an expression may become before it gets a line of its own.
const LONGEST: usize = 5;

struct Writer<'a> {
    of: &'a Function<'a>,
    language: Language,
    uses: Vec<u32>,
    /// The name of a number that has a line of its own.
    names: Vec<Option<String>>,
    /// How many operations the expression of a number has.
    sizes: Vec<usize>,
    angles: Vec<u32>,
    /// Where a line of the body begins, and the number that it computes.
    starts: Vec<(usize, Computed)>,
}

/// What a line computes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Computed {
    Number(u32),
    /// A result, by its place.
    Result(usize),
}

/// A line of text, the numbers that it computes, and the place of the result that it gives.
pub(crate) type Computing = (String, Vec<u32>, Option<usize>);

/// The source text.
pub(crate) fn write(of: &Function<'_>, language: Language) -> String {
    let mut writer = Writer::new(of, language);
    let body = writer.body();
    writer.around(&body)
}

/// The source text line by line, each with what it computes.
pub(crate) fn write_lines(of: &Function<'_>, language: Language) -> Vec<Computing> {
    let mut writer = Writer::new(of, language);
    let body = writer.body();
    let text = writer.around(&body);
    let begin = text.find(&body).unwrap_or(0);
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let computed = writer.starts.iter().find(|s| s.0 + begin == at).map(|s| s.1);
        let (numbers, result) = match computed {
            Some(Computed::Number(id)) => (writer.computed(id), None),
            // What has a line of its own is computed there.
            Some(Computed::Result(i)) => match of.results[i].0 {
                id if writer.names[id as usize].is_some() => (Vec::new(), Some(i)),
                id => (writer.computed(id), Some(i)),
            },
            None => (Vec::new(), None),
        };
        lines.push((line.trim_end_matches('\n').to_owned(), numbers, result));
        at += line.len();
    }
    lines
}

impl<'a> Writer<'a> {
    fn new(of: &'a Function<'a>, language: Language) -> Self {
        let n = of.tape.made.len();
        let mut uses = vec![0; n];
        of.results.iter().for_each(|r| uses[r.0 as usize] += 1);
        for id in (0..n as u32).rev() {
            if uses[id as usize] > 0 {
                of.tape.reads(id).into_iter().for_each(|r| uses[r as usize] += 1);
            }
        }
        let mut angles: Vec<u32> = Vec::new();
        for (id, from) in of.tape.made.iter().enumerate() {
            if let (From::Sin(x) | From::Cos(x), true) = (from, uses[id] > 0)
                && !angles.contains(x)
            {
                angles.push(*x);
            }
        }
        Self {
            of,
            language,
            uses,
            names: vec![None; n],
            sizes: vec![0; n],
            angles,
            starts: Vec::new(),
        }
    }

    /// The function around its statements.
    fn around(&self, body: &str) -> String {
        match self.language {
            Language::Rust | Language::BareRust => self.rust(body),
            Language::C => self.c(body),
            Language::Python => self.python(body),
        }
    }

    /// A number, and those that are written out where it is computed.
    fn computed(&self, id: u32) -> Vec<u32> {
        let (mut found, mut waiting) = (vec![id], self.of.tape.reads(id));
        while let Some(id) = waiting.pop() {
            let named = self.names[id as usize].is_some();
            if !named && !found.contains(&id) {
                found.push(id);
                if !matches!(self.of.tape.made[id as usize], From::Sin(_) | From::Cos(_)) {
                    waiting.extend(self.of.tape.reads(id));
                }
            }
        }
        found
    }

    fn text(&self, id: u32) -> String {
        if let Some(name) = &self.names[id as usize] {
            return name.clone();
        }
        self.formula(id)
    }

    /// A factor: in parentheses where it must be.
    fn factor(&self, id: u32) -> String {
        let text = self.text(id);
        let plain = self.names[id as usize].is_some()
            || !matches!(
                self.of.tape.made[id as usize],
                From::Add(..) | From::Sub(..) | From::Neg(_) | From::Mul(..) | From::Recip(_)
            );
        let call = self.is_fused(id) && self.language != Language::Python;
        if (plain || call) && !text.starts_with('-') {
            text
        } else {
            format!("({text})")
        }
    }

    /// A product that only one sum uses can be fused with it.
    fn product(&self, id: u32) -> Option<(u32, u32)> {
        match self.of.tape.made[id as usize] {
            From::Mul(a, b) if self.names[id as usize].is_none() => Some((a, b)),
            _ => None,
        }
    }

    /// Whether the formula of a number is one call.
    fn is_fused(&self, id: u32) -> bool {
        match self.of.tape.made[id as usize] {
            From::Add(a, b) | From::Sub(a, b) => self.product(a).is_some() || self.product(b).is_some(),
            _ => false,
        }
    }

    fn formula(&self, id: u32) -> String {
        let python = self.language == Language::Python;
        let fused = |a: u32, b: u32, c: String| match python {
            true => format!("{} * {} + {c}", self.factor(a), self.factor(b)),
            false => format!("madd({}, {}, {c})", self.text(a), self.text(b)),
        };
        match self.of.tape.made[id as usize] {
            From::Constant(bits) => format!("{:?}", f64::from_bits(bits)),
            From::Input(argument, index) if python => format!("{}[..., {index}]", self.of.arguments[argument].name),
            From::Input(argument, index) => format!("{}[{index}]", self.of.arguments[argument].name),
            From::Add(a, b) => match (self.product(a), self.product(b)) {
                (_, Some((x, y))) => fused(x, y, self.text(a)),
                (Some((x, y)), _) => fused(x, y, self.text(b)),
                _ => format!("{} + {}", self.text(a), self.text(b)),
            },
            From::Sub(a, b) => match (self.product(a), self.product(b)) {
                (_, Some((x, y))) if python => format!("{} - {} * {}", self.text(a), self.factor(x), self.factor(y)),
                (_, Some((x, y))) => format!("madd(-{}, {}, {})", self.factor(x), self.text(y), self.text(a)),
                (Some((x, y)), _) => fused(x, y, format!("-{}", self.factor(b))),
                _ => format!("{} - {}", self.text(a), self.factor(b)),
            },
            From::Mul(a, b) => format!("{} * {}", self.factor(a), self.factor(b)),
            From::Neg(a) => format!("-{}", self.factor(a)),
            From::Recip(a) => format!("1.0 / {}", self.factor(a)),
            From::Sqrt(a) => match self.language {
                Language::Rust => format!("{}.sqrt()", self.factor(a)),
                Language::BareRust => format!("root({})", self.text(a)),
                Language::C => format!("sqrt({})", self.text(a)),
                Language::Python => format!("np.sqrt({})", self.text(a)),
            },
            From::Ln(a) => match self.language {
                Language::Rust => format!("{}.ln()", self.factor(a)),
                Language::BareRust => format!("logarithm({})", self.text(a)),
                Language::C => format!("log({})", self.text(a)),
                Language::Python => format!("np.log({})", self.text(a)),
            },
            From::Sin(a) => format!("s[{}]", self.angle(a)),
            From::Cos(a) => format!("c[{}]", self.angle(a)),
            From::Below(x, bound, yes, no) => {
                let (x, yes, no) = (self.text(x), self.text(yes), self.text(no));
                let bound = f64::from_bits(bound);
                match self.language {
                    Language::Rust | Language::BareRust => {
                        format!("if {x} < {bound:?} {{ {yes} }} else {{ {no} }}")
                    }
                    Language::C => format!("{x} < {bound:?} ? {yes} : {no}"),
                    Language::Python => format!("np.where({x} < {bound:?}, {yes}, {no})"),
                }
            }
        }
    }

    fn angle(&self, of: u32) -> usize {
        self.angles.iter().position(|&a| a == of).unwrap_or(0)
    }

    /// All statements. Those that only angles need come first, with the sines and cosines.
    fn body(&mut self) -> String {
        let mut out = String::new();
        let n = self.of.tape.made.len();
        let mut early = vec![false; n];
        self.angles.iter().for_each(|&a| early[a as usize] = true);
        for id in (0..n).rev() {
            if early[id] {
                self.of
                    .tape
                    .reads(id as u32)
                    .into_iter()
                    .for_each(|r| early[r as usize] = true);
            }
        }
        let mut count = 0;
        self.statements(&mut out, &mut count, |id| early[id]);
        if !self.angles.is_empty() {
            let list: Vec<String> = self.angles.iter().map(|&a| self.text(a)).collect();
            let (m, list) = (list.len(), list.join(", "));
            let lines = match self.language {
                Language::Rust | Language::BareRust => format!("    let (s, c) = sines_and_cosines([{list}]);\n"),
                Language::C => format!(
                    "    const double angle[{m}] = {{{list}}};\n    double s[{m}], c[{m}];\n    sines_and_cosines({m}, angle, s, c);\n"
                ),
                Language::Python => format!(
                    "    angles = [{list}]\n    s = [np.sin(x) for x in angles]\n    c = [np.cos(x) for x in angles]\n"
                ),
            };
            out += &lines;
        }
        self.statements(&mut out, &mut count, |id| !early[id]);
        if self.language == Language::Python {
            out += "    results = [\n";
            for (i, result) in self.of.results.iter().enumerate() {
                self.starts.push((out.len(), Computed::Result(i)));
                writeln!(out, "        {},", self.text(result.0)).unwrap_or(());
            }
            out += "    ]\n";
            return out;
        }
        for (i, result) in self.of.results.iter().enumerate() {
            self.starts.push((out.len(), Computed::Result(i)));
            writeln!(out, "    out[{i}] = {};", self.text(result.0)).unwrap_or(());
        }
        out
    }

    fn statements(&mut self, out: &mut String, count: &mut usize, chosen: impl Fn(usize) -> bool) {
        for id in 0..self.of.tape.made.len() {
            if self.uses[id] == 0 || !chosen(id) {
                continue;
            }
            let from = self.of.tape.made[id];
            let leaf = matches!(from, From::Constant(_) | From::Input(..) | From::Sin(_) | From::Cos(_));
            if leaf {
                continue;
            }
            let reads = self.of.tape.reads(id as u32);
            let size = 1 + reads.iter().map(|&r| self.sizes[r as usize]).sum::<usize>();
            self.sizes[id] = size;
            // Numbers that are used again, and long ones, get a name.
            if self.uses[id] > 1 || size >= LONGEST || matches!(from, From::Below(..) | From::Recip(_)) {
                let name = format!("x{count}");
                let formula = self.formula(id as u32);
                self.starts.push((out.len(), Computed::Number(id as u32)));
                match self.language {
                    Language::Rust | Language::BareRust => writeln!(out, "    let {name} = {formula};"),
                    Language::C => writeln!(out, "    const double {name} = {formula};"),
                    Language::Python => writeln!(out, "    {name} = {formula}"),
                }
                .unwrap_or(());
                self.names[id] = Some(name);
                self.sizes[id] = 0;
                *count += 1;
            }
        }
    }

    /// Arguments that nothing reads.
    fn unread(&self) -> Vec<&str> {
        let mut read = vec![false; self.of.arguments.len()];
        for (id, from) in self.of.tape.made.iter().enumerate() {
            if let (From::Input(argument, _), true) = (from, self.uses[id] > 0) {
                read[*argument] = true;
            }
        }
        let names = self.of.arguments.iter().zip(read);
        names.filter(|(_, read)| !read).map(|(a, _)| &a.name[..]).collect()
    }

    fn comment(&self, mark: &str) -> String {
        let mut out = String::new();
        let lines = self.of.about.lines().map(str::trim_end);
        for line in lines {
            out += format!("{mark} {line}").trim_end();
            out.push('\n');
        }
        out += &format!("{mark}\n");
        for a in self.of.arguments {
            out += &format!("{mark} - `{}`: {}\n", a.name, a.about);
        }
        out
    }

    fn rust(&self, body: &str) -> String {
        let mut out = self.comment("///");
        let arguments = self.of.arguments.iter();
        let list: Vec<String> = arguments.map(|a| format!("{}: &[f64; {}]", a.name, a.length)).collect();
        let results = self.of.results.len();
        writeln!(
            out,
            "#[rustfmt::skip]\n#[allow(clippy::all)]\npub fn evaluate({}, out: &mut [f64; {results}]) {{",
            list.join(", ")
        )
        .unwrap_or(());
        for name in self.unread() {
            writeln!(out, "    let _ = {name};").unwrap_or(());
        }
        out += body;
        out += "}\n";
        let bare = self.language == Language::BareRust;
        if body.contains("madd(") {
            out += if bare { BARE_MADD } else { RUST_MADD };
        }
        if body.contains("root(") && bare {
            out += BARE_ROOT;
        }
        if body.contains("logarithm(") {
            out += BARE_LOGARITHM;
        }
        if !self.angles.is_empty() {
            out += &match bare {
                true => RUST_SINES.replace(LARGE_ANGLES, BARE_LARGE_ANGLES),
                false => RUST_SINES.to_owned(),
            };
        }
        out
    }

    fn python(&self, body: &str) -> String {
        let mut out = "import numpy as np\n\n\n".to_owned();
        if body.contains("np.where(") {
            // Both sides of a choice are computed.
            out += "@np.errstate(divide=\"ignore\", invalid=\"ignore\")\n";
        }
        let names: Vec<&str> = self.of.arguments.iter().map(|a| &a.name[..]).collect();
        writeln!(out, "def evaluate({}):", names.join(", ")).unwrap_or(());
        out += "    \"\"\"";
        out += self.comment("   ").trim_start();
        out += "\n    Each argument is one vector, or an array whose rows are vectors.\n    \"\"\"\n";
        for a in self.of.arguments {
            writeln!(out, "    {0} = np.asarray({0}, dtype=float)", a.name).unwrap_or(());
        }
        out += body;
        let shapes: Vec<String> = names.iter().map(|n| format!("{n}.shape[:-1]")).collect();
        writeln!(out, "    shape = np.broadcast_shapes({})", shapes.join(", ")).unwrap_or(());
        out += "    return np.stack([np.broadcast_to(x, shape) for x in results], axis=-1)\n";
        out
    }

    fn c(&self, body: &str) -> String {
        let mut out = String::new();
        let sines = body.contains("sines_and_cosines(");
        if sines || ["sqrt(", "log(", "madd("].iter().any(|call| body.contains(call)) {
            out += "#include <math.h>\n";
        }
        if sines {
            out += "#include <stdint.h>\n#include <string.h>\n";
            out += C_SINES;
        }
        out += "\n";
        if body.contains("madd(") {
            out += C_MADD;
        }
        out += &self.comment("//");
        let arguments = self.of.arguments.iter();
        let list: Vec<String> = arguments
            .map(|a| format!("const double {}[{}]", a.name, a.length))
            .collect();
        writeln!(
            out,
            "void evaluate({}, double out[{}]) {{",
            list.join(", "),
            self.of.results.len()
        )
        .unwrap_or(());
        for name in self.unread() {
            writeln!(out, "    (void){name};").unwrap_or(());
        }
        out += body;
        out += "}\n";
        out
    }
}

const RUST_MADD: &str = "
/// a b + c, fused where the processor it is compiled for can.
#[inline(always)]
fn madd(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(any(target_feature = \"fma\", target_arch = \"aarch64\")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}
";

const BARE_MADD: &str = "
/// a b + c.
#[inline(always)]
fn madd(a: f64, b: f64, c: f64) -> f64 {
    a * b + c
}
";

/// What is done where angles are many turns.
const LARGE_ANGLES: &str = "    if !(largest <= 1048576.0) {
        for i in 0..N {
            (sin[i], cos[i]) = angles[i].sin_cos();
        }
        return (sin, cos);
    }
    for i in 0..N {
        let x = angles[i];
";

const BARE_LARGE_ANGLES: &str = "    // Many turns are taken off by their remainder, to the precision of a turn.
    let turns = !(largest <= 1048576.0);
    for i in 0..N {
        let x = if turns { angles[i] % core::f64::consts::TAU } else { angles[i] };
";

const C_MADD: &str = "/* a b + c, fused where the processor it is compiled for can. */
#if defined(__FMA__) || defined(__aarch64__)
#define madd(a, b, c) fma(a, b, c)
#else
#define madd(a, b, c) ((a) * (b) + (c))
#endif

";

/// Sines of many angles at once: the reduction and polynomials are those of the library, within one unit in the last
/// place up to 2²⁰ radians.
const RUST_SINES: &str = "
/// Sines and cosines, several at a time: by the remainder of a quarter turn in three parts, and two polynomials.
#[inline(always)]
#[allow(clippy::all)]
fn sines_and_cosines<const N: usize>(angles: [f64; N]) -> ([f64; N], [f64; N]) {
    let (mut sin, mut cos) = ([0.0; N], [0.0; N]);
    let mut largest = 0.0_f64;
    for x in angles {
        largest = if x.abs() > largest { x.abs() } else { largest };
    }
    if !(largest <= 1048576.0) {
        for i in 0..N {
            (sin[i], cos[i]) = angles[i].sin_cos();
        }
        return (sin, cos);
    }
    for i in 0..N {
        let x = angles[i];
        // Adding 1.5 * 2^52 rounds to the nearest integer, which then stands in the low bits.
        let round = 6755399441055744.0;
        let shifted = x * core::f64::consts::FRAC_2_PI + round;
        let n = shifted - round;
        let a = x - n * 1.5707963267341256;
        let b = a - n * 6.077100506303966e-11;
        let rest = (a - b) - n * 6.077100506303966e-11 - n * 2.0222662487959506e-21;
        let r = b + rest;
        let tail = (b - r) + rest;
        let z = r * r;
        let p = -1.6666666666666632e-1 + z * (8.33333333332249e-3 + z * (-1.984126982985795e-4
            + z * (2.7557313707070068e-6 + z * (-2.5050760253406863e-8 + z * 1.58969099521155e-10))));
        let q = 4.16666666666666e-2 + z * (-1.388888888887411e-3 + z * (2.480158728947673e-5
            + z * (-2.7557314351390663e-7 + z * (2.087572321298175e-9 + z * -1.1359647557788195e-11))));
        let s = r + (z * r * p + tail);
        let half = 0.5 * z;
        let head = 1.0 - half;
        let c = head + ((1.0 - head) - half + (z * z * q - r * tail));
        // Odd quadrants exchange the two, and the sign of each follows the second bit.
        let quadrant = shifted.to_bits();
        let exchange = (s.to_bits() ^ c.to_bits()) & (quadrant & 1).wrapping_neg();
        sin[i] = f64::from_bits((s.to_bits() ^ exchange) ^ ((quadrant & 2) << 62));
        cos[i] = f64::from_bits((c.to_bits() ^ exchange) ^ ((quadrant.wrapping_add(1) & 2) << 62));
    }
    (sin, cos)
}
";

/// The same in C.
const C_SINES: &str = "
/* Sines and cosines, several at a time: by the remainder of a quarter turn in three parts, and two polynomials. */
static inline void sines_and_cosines(int n, const double angle[], double sine[], double cosine[]) {
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fabs(angle[i]) > largest ? fabs(angle[i]) : largest;
    }
    if (!(largest <= 1048576.0)) {
        for (int i = 0; i < n; i++) {
            sine[i] = sin(angle[i]);
            cosine[i] = cos(angle[i]);
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        /* Adding 1.5 * 2^52 rounds to the nearest integer, which then stands in the low bits. */
        const double x = angle[i], around = 6755399441055744.0;
        const double shifted = x * 0.6366197723675814 + around;
        const double turns = shifted - around;
        const double a = x - turns * 1.5707963267341256;
        const double b = a - turns * 6.077100506303966e-11;
        const double rest = (a - b) - turns * 6.077100506303966e-11 - turns * 2.0222662487959506e-21;
        const double r = b + rest;
        const double tail = (b - r) + rest;
        const double z = r * r;
        const double p = -1.6666666666666632e-1 + z * (8.33333333332249e-3 + z * (-1.984126982985795e-4
            + z * (2.7557313707070068e-6 + z * (-2.5050760253406863e-8 + z * 1.58969099521155e-10))));
        const double q = 4.16666666666666e-2 + z * (-1.388888888887411e-3 + z * (2.480158728947673e-5
            + z * (-2.7557314351390663e-7 + z * (2.087572321298175e-9 + z * -1.1359647557788195e-11))));
        const double s = r + (z * r * p + tail);
        const double half = 0.5 * z;
        const double head = 1.0 - half;
        const double c = head + ((1.0 - head) - half + (z * z * q - r * tail));
        /* Odd quadrants exchange the two, and the sign of each follows the second bit. */
        uint64_t quadrant, sine_bits, cosine_bits;
        memcpy(&quadrant, &shifted, sizeof quadrant);
        memcpy(&sine_bits, &s, sizeof sine_bits);
        memcpy(&cosine_bits, &c, sizeof cosine_bits);
        const uint64_t exchange = (sine_bits ^ cosine_bits) & (0 - (quadrant & 1));
        sine_bits = (sine_bits ^ exchange) ^ ((quadrant & 2) << 62);
        cosine_bits = (cosine_bits ^ exchange) ^ (((quadrant + 1) & 2) << 62);
        memcpy(&sine[i], &sine_bits, sizeof sine_bits);
        memcpy(&cosine[i], &cosine_bits, sizeof cosine_bits);
    }
}
";

//! An algorithm in words that a person can read: every level from the expression to the steps at a link.

use super::algorithm::Algorithm;
use super::notation::{Notation, vector};
use super::steps;
use core::fmt::Write;

/// How an explanation looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Plain text.
    Plain,
    /// With colours, for a terminal.
    Coloured,
    /// Markdown, with formulas in LaTeX.
    Markdown,
}

/// One sweep in words.
pub(crate) struct Told {
    pub(crate) heading: String,
    /// Left and right sides of equations.
    pub(crate) lines: Vec<(String, String)>,
}

/// What the Riccati recursion and that of Υ take per link.
const UPSILON: (usize, usize) = super::cost::OF_UPSILON;

/// What is told where a search ended early.
const CUT_SHORT: &str = "cut short: this is the cheapest form found so far; a shorter expression may lead further";

impl Algorithm {
    /// The expression as typed and as rewritten, the laws in order, the sweeps with what they do at each link, and what it
    /// all costs.
    ///
    /// ```
    /// use linkwork::algebra::{Expression, Look};
    /// let expression: Expression = "inv(Mass) T".parse()?;
    /// let told = expression.compile(false, &[]).explain(Look::Plain);
    /// assert!(told.contains("ε(k)") && told.contains("sweep 2, outward"));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn explain(&self, look: Look) -> String {
        match look {
            Look::Markdown => self.in_markdown(),
            look => self.in_text(look == Look::Coloured),
        }
    }

    /// What kind of thing it is.
    pub(super) fn kind(&self) -> String {
        let e = &self.expression;
        if e.is_vector() && e.range() == super::Space::Number {
            return "a number".to_owned();
        }
        if e.is_vector() {
            return format!("a vector of {}", e.range());
        }
        format!("an operator from {} to {}, {}", e.domain(), e.range(), e.direction())
    }

    fn needs(&self) -> String {
        let inputs = self.inputs();
        if inputs.is_empty() {
            return "nothing but the state".to_owned();
        }
        let each = inputs
            .iter()
            .map(|(name, space)| format!("{} in {space}", vector(name, Notation::Symbols)));
        each.collect::<Vec<_>>().join(", ")
    }

    fn complexity(&self) -> &'static str {
        match self.cost().sweeps {
            _ if !self.graph.solves.is_empty() => "O(N) for each column of what is inverted, and its dense inverse",
            0 if self.cost().total() == 0 => "nothing to compute",
            0 => "O(N), link by link in any order",
            _ => "O(N), no matrix is formed",
        }
    }

    /// What a matrix costs that is inverted, per link, and its inverse.
    fn price(&self, inner: &super::Expression) -> String {
        let algorithm = inner.compile(self.rotors, &[]);
        let cost = algorithm.cost();
        let per_link = format!("{} × and {} +", cost.multiplications, cost.additions);
        let size = match inner.domain() {
            super::Space::Joint => "n",
            super::Space::Tip => "6 × frames",
            super::Space::Frame => "6",
            _ => "rows",
        };
        let filled = match (algorithm.is_composite(), algorithm.compliance().is_some()) {
            (true, _) => "filled by composite bodies".to_owned(),
            (_, true) => format!(
                "filled from Υ in two sweeps, {} × and {} + per link",
                UPSILON.0, UPSILON.1
            ),
            _ => format!(
                "filled column by column, {per_link} per link and column in {} sweeps",
                cost.sweeps
            ),
        };
        format!("{filled}; its inverse d³ × and d³ +, d = {size}")
    }

    fn in_text(&self, coloured: bool) -> String {
        let paint = |code: &str, text: &str| {
            if coloured {
                format!("\x1b[{code}m{text}\x1b[0m")
            } else {
                text.to_owned()
            }
        };
        let head = |text: &str| paint("1;36", &format!("{text:<12}"));
        let mut out = String::new();
        let mut row = |name: &str, text: &str| writeln!(out, "{}{text}", head(name)).unwrap_or(());
        row("expression", &self.expression.text);
        row("", &paint("2", &self.kind()));
        row("means", &self.expression.written(Notation::Symbols));
        row("rewritten", &paint("1", &self.rewritten().written(Notation::Symbols)));
        for (i, law) in self.laws(Notation::Symbols).iter().enumerate() {
            row(if i == 0 { "by" } else { "" }, &format!("{}. {law}", i + 1));
        }
        if self.is_cut_short() {
            row("search", CUT_SHORT);
        }
        row("needs", &self.needs());
        let (before, after) = (self.naive_cost(), self.cost());
        row(
            "sweeps",
            &format!("{} (operator by operator {})", after.sweeps, before.sweeps),
        );
        let count = |c: super::Cost| format!("{} × and {} +", c.multiplications, c.additions);
        row(
            "per link",
            &format!("{} (operator by operator {})", count(after), count(before)),
        );
        for (i, inner) in self.solves().iter().enumerate() {
            let text = format!(
                "{} as a dense matrix, once per state: {}",
                inner.written(Notation::Symbols),
                self.price(inner)
            );
            row(if i == 0 { "inverts" } else { "" }, &text);
        }
        row("complexity", self.complexity());
        for told in steps::told(self) {
            writeln!(out, "\n{}", paint("1;36", &told.heading)).unwrap_or(());
            out += &lines_in_text(&told);
        }
        out
    }

    fn in_markdown(&self) -> String {
        let mut out = String::new();
        let mut line = |text: &str| writeln!(out, "{text}").unwrap_or(());
        line(&format!("## `{}`\n", self.expression.text));
        line(&format!("$$ {} $$\n", self.expression.written(Notation::Latex)));
        line(&format!("This is {}. It needs {}.\n", self.kind(), self.needs()));
        line(&format!("$$ {} $$\n", self.rewritten().written(Notation::Latex)));
        for (i, law) in self.laws(Notation::Latex).iter().enumerate() {
            line(&format!("{}. $ {law} $", i + 1));
        }
        if self.is_cut_short() {
            line(&format!("\nThe search was {CUT_SHORT}."));
        }
        let (before, after) = (self.naive_cost(), self.cost());
        line("\n| | operator by operator | compiled |\n|---|---|---|");
        for (name, a, b) in [
            ("sweeps", before.sweeps, after.sweeps),
            (
                "multiplications per link",
                before.multiplications,
                after.multiplications,
            ),
            ("additions per link", before.additions, after.additions),
        ] {
            line(&format!("| {name} | {a} | {b} |"));
        }
        for inner in self.solves() {
            let text = inner.written(Notation::Latex);
            let price = self.price(&inner);
            line(&format!(
                "\nInverted as a dense matrix, once per state: $ {text} $; {price}."
            ));
        }
        line(&format!("\nComplexity: {}.", self.complexity()));
        for told in steps::told(self) {
            line(&format!("\n### {}\n", told.heading));
            line("$$ \\begin{aligned}");
            for (left, right) in &told.lines {
                line(&format!("{} &= {} \\\\", latex(left), latex(right)));
            }
            line("\\end{aligned} $$");
        }
        out
    }
}

/// Equations below each other, their equals signs too.
fn lines_in_text(told: &Told) -> String {
    let mut out = String::new();
    let wide = told.lines.iter().map(|l| width(&l.0)).max().unwrap_or(0);
    for (left, right) in &told.lines {
        let gap = " ".repeat(wide - width(left));
        writeln!(out, "  {gap}{left} = {right}").unwrap_or(());
    }
    out
}

/// Headings and equations as text.
pub(super) fn in_text(all: &[Told]) -> String {
    let each = all
        .iter()
        .map(|told| format!("{}\n{}", told.heading, lines_in_text(told)));
    each.collect::<Vec<_>>().join("\n")
}

/// The same in LaTeX.
pub(super) fn in_latex(all: &[Told]) -> String {
    let mut out = String::new();
    for told in all.iter().filter(|told| !told.lines.is_empty()) {
        let lines: Vec<String> = told
            .lines
            .iter()
            .map(|(left, right)| format!("  {} &= {}", latex(left), latex(right)))
            .collect();
        let heading = latex_words(&told.heading);
        writeln!(
            out,
            "\\paragraph{{{heading}}}\n\\begin{{align*}}\n{}\n\\end{{align*}}",
            lines.join(" \\\\\n")
        )
        .unwrap_or(());
    }
    out
}

/// Words between which symbols stand as formulas.
fn latex_words(text: &str) -> String {
    let word = |word: &str| {
        let plain = word.is_ascii();
        if plain {
            word.replace('_', r"\_")
        } else {
            format!("${}$", latex(word))
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Columns on a terminal: combining marks take none.
fn width(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

/// Symbols as LaTeX.
const LATEX: [(&str, &str); 46] = [
    ("q̈", r"\ddot q "),
    ("q̇", r"\dot q "),
    ("τ̄", r"\bar\tau "),
    ("Ṗ", r"\dot P "),
    ("Ȧ", r"\dot A "),
    ("Ḃ", r"\dot B "),
    ("Ċ", r"\dot C "),
    ("l̃", r"\tilde l "),
    ("p̃", r"\tilde p "),
    ("Rᵀ", r"R^T "),
    ("ᵀ", "^T"),
    (" × ", r" \times "),
    (" · ", r" \cdot "),
    ("ω", r"\omega "),
    ("δ", r"\delta "),
    ("Δ", r"\Delta "),
    ("Φ", r"\Phi "),
    ("⁻¹", "^{-1}"),
    ("^-½", "^{-1/2}"),
    ("^½", "^{1/2}"),
    ("⁺*", "^{+*}"),
    ("*", "^*"),
    ("⁺", "^+"),
    ("Σ", r"\sum_c "),
    ("φ", r"\phi "),
    ("ψ", r"\psi "),
    ("ε", r"\varepsilon "),
    ("ζ", r"\zeta "),
    ("λ", r"\lambda "),
    ("ν", r"\nu "),
    ("ξ", r"\xi "),
    ("Υ", r"\Upsilon "),
    ("𝓜", r"\mathcal{M}"),
    ("−", "-"),
    ("₀", "_0"),
    ("₁", "_1"),
    ("₂", "_2"),
    ("₃", "_3"),
    ("₄", "_4"),
    ("₅", "_5"),
    ("₆", "_6"),
    ("₇", "_7"),
    ("₈", "_8"),
    ("₉", "_9"),
    ("result", r"\mathrm{result}"),
    (", where ", r",\ \text{where } "),
];

fn latex(text: &str) -> String {
    let mut text = text.to_owned();
    for (symbol, latex) in LATEX {
        text = text.replace(symbol, latex);
    }
    text.replace("crm(", r"\mathrm{crm}(").replace("crf(", r"\mathrm{crf}(")
}

//! What an expansion has written so far: a tree that becomes text.

use crate::source::Spot;

/// An element of the result.
#[derive(Clone, Debug)]
pub(super) struct Out {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<usize>,
    pub(super) origin: Spot,
}

/// All elements, found by their numbers.
#[derive(Default)]
pub(super) struct Output {
    pub(super) nodes: Vec<Out>,
}

impl Output {
    /// An element that stands nowhere yet.
    pub(super) fn make(&mut self, name: &str, origin: Spot) -> usize {
        self.nodes.push(Out {
            name: name.to_owned(),
            attributes: Vec::new(),
            text: String::new(),
            children: Vec::new(),
            origin,
        });
        self.nodes.len() - 1
    }

    /// Sets an attribute, in the place of one of the same name.
    pub(super) fn set(&mut self, node: usize, name: &str, value: String) {
        let attributes = &mut self.nodes[node].attributes;
        match attributes.iter_mut().find(|(n, _)| n == name) {
            Some(slot) => slot.1 = value,
            None => attributes.push((name.to_owned(), value)),
        }
    }

    /// How many bytes a subtree takes, or none if it is more than a number.
    pub(super) fn size(&self, node: usize, most: usize) -> Option<usize> {
        let (mut waiting, mut sum) = (vec![node], 0_usize);
        while let Some(n) = waiting.pop() {
            let out = &self.nodes[n];
            let words: usize = out.attributes.iter().map(|(n, v)| n.len() + v.len()).sum();
            sum = sum.saturating_add(200 + out.name.len() + out.text.len() + words);
            if sum > most {
                return None;
            }
            waiting.extend(&out.children);
        }
        Some(sum)
    }

    /// The text of a subtree, and where each of its elements comes from.
    pub(super) fn written(&self, root: usize) -> (String, Vec<Spot>) {
        let (mut text, mut origins) = (String::new(), Vec::new());
        // Elements to open, and ends to write.
        let mut waiting = vec![(root, false)];
        while let Some((n, end)) = waiting.pop() {
            let out = &self.nodes[n];
            if end {
                text += &format!("</{}>\n", out.name);
                continue;
            }
            origins.push(out.origin);
            text += &format!("<{}", out.name);
            for (name, value) in &out.attributes {
                text += &format!(" {name}=\"{}\"", crate::write::escaped(value));
            }
            if out.children.is_empty() && out.text.is_empty() {
                text += "/>\n";
                continue;
            }
            text.push('>');
            text += &crate::write::escaped(&out.text);
            waiting.push((n, true));
            waiting.extend(out.children.iter().rev().map(|c| (*c, false)));
        }
        (text, origins)
    }
}

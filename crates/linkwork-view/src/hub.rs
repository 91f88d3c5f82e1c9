//! Pages that are being shown, and what is on its way to them.
//!
//! Who shows something never waits for a page: a page has room for one frame and one status, in which a newer one takes the
//! older one's place, and for a few messages; one that does not read them is let go.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many messages may wait for a page.
const WAITING: usize = 64;
/// So many pages are shown at once.
pub(crate) const PAGES: usize = 16;

/// What goes to a page.
#[derive(Debug)]
pub(crate) enum Parcel {
    Text(Arc<str>),
    Frame(Arc<[u8]>),
    Pong(Vec<u8>),
    Close(u16),
}

/// All pages.
#[derive(Debug, Default)]
pub struct Hub {
    inner: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    pages: Vec<Arc<Page>>,
    frame: Option<Arc<[u8]>>,
    status: Option<Arc<str>>,
}

/// What waits for one page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    mailbox: Mutex<Mailbox>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Mailbox {
    status: Option<Arc<str>>,
    frame: Option<Arc<[u8]>>,
    parcels: VecDeque<Parcel>,
    over: bool,
}

/// Nothing that holds a lock here can leave what it guards half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// Shows a frame on every page.
    pub fn show(&self, frame: Vec<u8>) {
        let frame: Arc<[u8]> = frame.into();
        let mut inner = lock(&self.inner);
        for page in &inner.pages {
            lock(&page.mailbox).frame = Some(frame.clone());
            page.bell.notify_one();
        }
        inner.frame = Some(frame);
    }

    /// Tells every page how things are; a page that comes later is told the last of these.
    pub fn status(&self, text: String) {
        let text: Arc<str> = text.into();
        let mut inner = lock(&self.inner);
        for page in &inner.pages {
            lock(&page.mailbox).status = Some(text.clone());
            page.bell.notify_one();
        }
        inner.status = Some(text);
    }

    /// Tells every page that is there now.
    pub fn tell(&self, text: String) {
        let text: Arc<str> = text.into();
        let inner = lock(&self.inner);
        inner
            .pages
            .iter()
            .for_each(|page| page.post(Parcel::Text(text.clone())));
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        lock(&self.inner).pages.len()
    }

    /// A new page; none where there are too many.
    pub(crate) fn enter(&self) -> Option<Arc<Page>> {
        let mut inner = lock(&self.inner);
        if inner.pages.len() >= PAGES {
            return None;
        }
        let page = Arc::new(Page::default());
        *lock(&page.mailbox) = Mailbox {
            status: inner.status.clone(),
            frame: inner.frame.clone(),
            ..Mailbox::default()
        };
        inner.pages.push(page.clone());
        Some(page)
    }

    pub(crate) fn leave(&self, page: &Arc<Page>) {
        lock(&self.inner).pages.retain(|p| !Arc::ptr_eq(p, page));
        page.end();
    }
}

impl Page {
    /// Puts something into the mailbox; a full one ends the page.
    pub(crate) fn post(&self, parcel: Parcel) {
        let mut inside = lock(&self.mailbox);
        if inside.parcels.len() >= WAITING {
            inside.over = true;
        } else {
            inside.parcels.push_back(parcel);
        }
        drop(inside);
        self.bell.notify_one();
    }

    pub(crate) fn end(&self) {
        lock(&self.mailbox).over = true;
        self.bell.notify_one();
    }

    /// Waits for what comes next; none when it is over. Messages come before frames.
    pub(crate) fn take(&self) -> Option<Parcel> {
        let mut inside = lock(&self.mailbox);
        loop {
            if let Some(parcel) = inside.parcels.pop_front() {
                return Some(parcel);
            }
            if inside.over {
                return None;
            }
            if let Some(status) = inside.status.take() {
                return Some(Parcel::Text(status));
            }
            if let Some(frame) = inside.frame.take() {
                return Some(Parcel::Frame(frame));
            }
            inside = self.bell.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_does_not_read_costs_one_frame_and_a_few_messages() {
        let hub = Hub::default();
        let stalled = hub.enter().expect("room");
        for i in 0..1000_u32 {
            hub.show(i.to_le_bytes().to_vec());
            hub.status(i.to_string());
        }
        assert!(matches!(stalled.take(), Some(Parcel::Text(t)) if &*t == "999"));
        let Some(Parcel::Frame(frame)) = stalled.take() else {
            panic!("a frame")
        };
        assert_eq!(*frame, 999_u32.to_le_bytes(), "the newest");
        for _ in 0..WAITING + 1 {
            hub.tell("x".into());
        }
        let read = std::iter::from_fn(|| stalled.take()).count();
        assert_eq!(read, WAITING, "then it is let go");
    }

    #[test]
    fn a_page_that_comes_late_is_told_how_things_are() {
        let hub = Hub::default();
        hub.status("old".into());
        hub.status("new".into());
        hub.show(vec![7]);
        let page = hub.enter().expect("room");
        assert!(matches!(page.take(), Some(Parcel::Text(t)) if &*t == "new"));
        assert!(matches!(page.take(), Some(Parcel::Frame(f)) if *f == [7]));
    }

    #[test]
    fn there_is_an_end_to_pages() {
        let hub = Hub::default();
        let pages: Vec<_> = (0..PAGES).map(|_| hub.enter().expect("room")).collect();
        assert!(hub.enter().is_none());
        hub.leave(&pages[0]);
        assert!(hub.enter().is_some() && pages[0].take().is_none());
    }
}

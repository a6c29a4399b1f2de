use crate::page::Page;
pub(crate) fn page(_: &Page) -> String {
    String::new()
}

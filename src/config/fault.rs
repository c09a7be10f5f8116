//! Codes for the mistakes that the YAML parser finds.

/// A mistake in the grammar of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A second document begins.
    SecondDocument,
    /// A key is repeated in its map.
    DuplicateKey(String),
    /// A tag that means nothing here, such as `!vault`.
    Tag(String),
    /// The aliases expand to too much text, or the file has too many values.
    TooLarge,
    /// Lists and maps stand too deep in each other.
    TooDeep,
    /// A list or a map stands where a key is expected.
    KeyIsNoText,
    /// Nothing, or `null`, stands where a key is expected.
    KeyIsNull,
    /// An alias has no anchor, or an anchor no name.
    Anchor,
    /// A text begins with this character, which YAML reserves.
    ReservedCharacter,
    /// Something stands between this closing quote and the end of the value.
    BehindQuote(char),
    /// A `\` in double quotes begins no escape that YAML knows.
    UnknownEscape,
    /// Another mistake inside of quotes.
    InQuotes,
    /// The first line of a `|` or `>` has a text.
    BlockHeader,
    /// A line is a word without a colon.
    NoColon,
    /// A colon stands where no value is expected.
    ValueNotAllowed,
    /// A `-` stands where no list is expected.
    EntryNotAllowed,
    /// An entry of a list has no `-`.
    NoDash,
    /// A line between the keys of a map is no key.
    NoKey,
    /// A line is neither a value nor the beginning of a document.
    NoNode,
    /// A colon in brackets stands where no value is expected.
    ColonInBrackets,
    /// There is no space between a colon and the bracket behind it.
    NoSpaceBeforeBracket,
    /// A `-` stands in brackets.
    DashInBrackets,
    /// A bracket is not closed.
    OpenBracket,
    /// A bracket closes nothing.
    ClosingBracket,
    /// A bracket is closed by one of the other kind.
    OtherBracket(char, char),
    /// A comma is missing in a list in brackets.
    NoCommaInList,
    /// A comma is missing in a map in braces.
    NoCommaInMap,
    /// Any other mistake.
    Other,
}

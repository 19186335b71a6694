"""A tokenizer that covers its whole vocabulary: every id is text, and that text is this id.

A token that decodes to nothing would not count as a first token, and its time would be lost.
"""

from itertools import product

CONSONANTS = "bcdfghjklmnpqrstvwxz"
VOWELS = "aeiou"

# Printable ASCII and the end of a line: what a person may type. Anything else reads as '?'.
ALPHABET = ("\n", *(chr(code) for code in range(0x20, 0x7F)))
UNKNOWN = "?"


class VocabularyError(ValueError):
    """The vocabulary asked for is smaller or larger than these words can make."""

    def __init__(self, size: int, *, least: int, most: int) -> None:
        super().__init__(f"a vocabulary has {least} to {most} entries, not {size}")


def vocabulary(size: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the tokens in the order of their ids, and the merges in the order of their ranks.

    A token is a character, a syllable ('ka'), a space and a syllable (' ka'), or a space and two
    syllables (' kato'). As a space begins a word, words in a row are cut apart as they were joined.
    Raises VocabularyError.
    """
    syllables = [first + second for first, second in product(CONSONANTS, VOWELS)]
    merges = [(syllable[0], syllable[1]) for syllable in syllables]
    merges += [(" ", syllable) for syllable in syllables]
    least = len(ALPHABET) + len(merges)
    most = least + len(syllables) ** 2
    if not least <= size <= most:
        raise VocabularyError(size, least=least, most=most)
    words = [(f" {first}", second) for first, second in product(syllables, syllables)]
    merges += words[: size - least]
    return [*ALPHABET, *(left + right for left, right in merges)], merges


def tokenizer_json(size: int) -> dict[str, object]:
    """Return tokenizer.json as the tokenizers library reads it. Raises VocabularyError.

    It adds nothing in front or behind and has no special token: none could be left out of a text.
    """
    tokens, merges = vocabulary(size)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"Regex": r" ?[^ ]+| +"},
            "behavior": "Isolated",
            "invert": False,
        },
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [list(pair) for pair in merges],
        },
    }


def tokenizer_config(context: int) -> dict[str, object]:
    """Return tokenizer_config.json: the class that takes tokenizer.json as it is."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": context,
        "clean_up_tokenization_spaces": False,
        "add_bos_token": False,
        "chat_template": (
            "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}"
        ),
    }

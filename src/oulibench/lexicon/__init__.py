"""Is it an Italian word? A lexicon in tiers, with verb + clitic forms and an anagram index."""

from oulibench.lexicon.lexicon import Lexicon, Tier, load_lexicon

__all__ = ["Lexicon", "Tier", "load_lexicon"]

/** How plain a character is in the text of an alphabet other than Latin, from 0 to 1, beside its neighbours. */
export type CharPlainness = (char: string, before: string, after: string) => number

/** Letters of an alphabet, the most frequent ones first; each entry has its weight in `weights`. */
type ByFrequency = readonly [string, string, string, string]

// The weights of letters: in KOI8-R, Windows-1251, CP 866 and ISO 8859-5 the same bytes are different letters, which
// form words in only one of them.
const weights = [1, 0.75, 0.4, 0.15] as const

const isLetter = (char: string) => /^[\p{L}\p{M}]$/u.test(char)
const isAsciiLetter = (char: string) => /^[a-z]$/i.test(char)
const isUpper = (char: string) => char !== char.toLowerCase()

function lettersOf(
  letters: ByFrequency,
  misplaced: (char: string, before: string, after: string) => boolean = () => false,
): CharPlainness {
  const known = new Map<string, number>()
  for (const [at, group] of letters.entries()) {
    for (const letter of group) known.set(letter, weights[at] ?? 0)
  }
  return (char, before, after) => {
    // No word has both alphabets.
    if (isAsciiLetter(before) || isAsciiLetter(after)) return 0
    // A single such letter may be any accented letter of a Western text: `è`.
    if (!isLetter(before) && !isLetter(after)) return 0
    // A capital begins a word, or the whole word is in capitals.
    if (isUpper(char) && isLetter(before) && !isUpper(before)) return 0
    return misplaced(char, before, after) ? 0 : (known.get(char.toLowerCase()) ?? 0)
  }
}

const cyrillic = lettersOf(
  ['оеаинтсрвлк', 'мдпуяыьгзбчі', 'йхжшюцјњїє', 'щэфъёґћђљџў'],
  (char, before) => /^[ьъы]$/i.test(char) && !isLetter(before),
)

const greek = lettersOf(['αοεσιτνηυρκπμλ', 'ςωάέήίόύώδγ', 'θχφξβψζ', 'ϊϋΐΰ'])

// Some letters have a form of their own at the end of a word, and nowhere else.
const hebrew = lettersOf(['יוהלאתרשמבםנ', 'דקפעחכטגסזן', 'צךףץ', ''], (char, _, after) =>
  isLetter(after) ? /^[םןךףץ]$/.test(char) : /^[מנכפצ]$/.test(char),
)

const arabic = lettersOf(
  ['اليمنورتبدعسةكه', 'فحقجصخشطئذءأىز', 'ضثغظإؤآ', ''],
  (char, before, after) => (/^[ةى]$/.test(char) ? isLetter(after) || !isLetter(before) : false),
)

// Vowels and tones stand over or under a consonant; five vowels are written before it.
const thai = lettersOf(
  ['านรอกเงมยลวดทสต่้ัีิปค', 'ะพบผใไห็ชจขแโูุืำถ', 'ญณธศษซภฟฝฉฎฐ์ึ', 'ฬฮฆฌฏฑฒ๊๋ๆฯ'],
  (char, before, after) => {
    if (/^[\u0e31\u0e33-\u0e3a\u0e47-\u0e4e]$/.test(char)) return !isLetter(before)
    return /^[เแโใไ]$/.test(char) && !/^[\u0e01-\u0e2e]$/.test(after)
  },
)

/** Charsets of these alphabets, by `TextDecoder`'s names. KOI8-U is KOI8-R with the letters of Ukrainian. */
export const alphabetCharsets: readonly { label: string; plainness: CharPlainness }[] = [
  { label: 'windows-1251', plainness: cyrillic },
  { label: 'koi8-u', plainness: cyrillic },
  { label: 'ibm866', plainness: cyrillic },
  { label: 'iso-8859-5', plainness: cyrillic },
  { label: 'windows-1253', plainness: greek },
  { label: 'iso-8859-7', plainness: greek },
  { label: 'windows-1255', plainness: hebrew },
  { label: 'windows-1256', plainness: arabic },
  { label: 'iso-8859-6', plainness: arabic },
  { label: 'windows-874', plainness: thai },
]

/*
 * Phrases for which content filters give points, whoever writes them. One of them does little, several together may do.
 */
const phrases = [
  '100% free',
  '100% guaranteed',
  'act now',
  'as seen on',
  'be your own boss',
  'bulk email',
  'cash bonus',
  'click below',
  'click here',
  'dear friend',
  'double your income',
  'earn extra cash',
  'extra income',
  'fast cash',
  'for free!',
  'free gift',
  'free money',
  'free quote',
  'get paid',
  'guaranteed income',
  'limited time only',
  'lose weight',
  'lowest price',
  'make money',
  'million dollars',
  'million euros',
  'million pounds',
  'miracle cure',
  'money back guarantee',
  'no credit check',
  'no cost to you',
  'no obligation',
  'no prescription',
  'no questions asked',
  'online pharmacy',
  'order now',
  'risk free',
  'risk-free',
  'this is not spam',
  'urgent business',
  'viagra',
  'while supplies last',
  'winning number',
  'work from home',
  'you are a winner',
  'you have been selected',
  'you have won',
  "you've won",
]

const spaces = /\s+/g
const quotes = /[\u2018\u2019]/g

/** The words in a text for which filters give points, each once, in the order of the alphabet. */
export function spamWords(text: string): string[] {
  const plain = ` ${text.toLowerCase().replace(spaces, ' ').replace(quotes, "'")} `
  return phrases.filter((phrase) => isIn(plain, phrase))
}

const isLetter = /[\p{L}\p{N}]/u

/** As words of its own: 'get paid' is not in 'target paid'. */
function isIn(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at !== -1; at = text.indexOf(phrase, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + phrase.length]]
    if (!isLetter.test(before) && !isLetter.test(after)) return true
  }
  return false
}

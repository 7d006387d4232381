/** The text of an answer, separated from what it quotes. */
export interface OwnWords {
  own: string
  /** Null: the answer quotes nothing. */
  quoted: string | null
}

// More lines than a person writes and quotes in one mail; a longer text stays unchanged.
const mostLines = 20_000

/**
 * Separates the writer's own text from the quoted mail below it. It knows the forms that mail programs write in
 * English, German, French, Spanish and Portuguese; any other text counts wholly as the writer's.
 */
export function ownWords(text: string): OwnWords {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  if (lines.length > mostLines) return { own: text, quoted: null }
  const at = quoteBegins(lines)
  if (at !== undefined && isTail(lines, at)) return parted(lines, at)
  const isQuoted = lines.map((line) => line.startsWith('>'))
  if (!isQuoted.includes(true)) return { own: text, quoted: null }
  // For answers between quoted lines, the quoted lines and their introduction are left out.
  const kept = lines.filter((_, index) => !isQuoted[index] && index !== at)
  const quoted = lines.filter((_, index) => isQuoted[index])
  return { own: tidy(kept), quoted: tidy(quoted) }
}

function parted(lines: readonly string[], at: number): OwnWords {
  return { own: tidy(lines.slice(0, at)), quoted: tidy(lines.slice(at)) }
}

const tidy = (lines: readonly string[]): string =>
  lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()

/** The first line of a quote's introduction; undefined without one. */
function quoteBegins(lines: readonly string[]): number | undefined {
  for (const [at, line] of lines.entries()) {
    const said = line.trim()
    if (separator.test(said) || isHeaderBlock(lines, at)) return at
    if (introduction.test(said)) return at
    // Programs break the line 'who wrote when' into two or three.
    for (const more of [1, 2]) {
      const words = lines.slice(at, at + 1 + more).map((one) => one.trim())
      if (!words.includes('') && opened.test(words.join(' ').slice(0, 400))) return at
    }
  }
  const quoted = lines.findIndex((line) => line.startsWith('>'))
  return quoted === -1 ? undefined : quoted
}

/** Whether everything from there on is the quote: text below `>` lines is meant to be read. */
function isTail(lines: readonly string[], at: number): boolean {
  const first = lines.findIndex((line, index) => index >= at && line.startsWith('>'))
  if (first === -1) return true
  return lines.slice(first).every((line) => line.startsWith('>') || line.trim() === '')
}

/** Outlook's: From, then Sent or Date, To or Subject in the lines below it. */
function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!from.test(lines[at]?.trim() ?? '')) return false
  const below = lines.slice(at + 1, at + 5).map((line) => line.trim())
  return below.some((line) => sent.test(line)) && below.some((line) => about.test(line))
}

const from = /^\*?(?:from|von|de|da|expéditeur|remetente)\s?:\*?\s*\S/i
const sent = /^\*?(?:sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|data)\s?:\*?\s*\S/i
const about = /^\*?(?:to|subject|an|betreff|à|objet|para|asunto|assunto)\s?:\*?\s*\S?/i

const separator =
  /^(?:-{2,}\s*(?:original message|forwarded message|ursprüngliche nachricht|weitergeleitete nachricht|message d['’]origine|message original|message transféré|mensaje original|mensaje reenviado|mensagem original|mensagem encaminhada)\s*-{2,}|_{20,})$/i

/** Forms of 'who wrote when' that begin with a word of their own. */
const opened =
  /^(?:on\b.{4,300}\bwrote\s?:|am\b.{4,300}\bschrieb\b.{0,200}:|le\b.{4,300}\ba écrit\s?:|el\b.{4,300}\bescribió\s?:|(?:em|a)\b.{4,300}\bescreveu\s?:)$/i

/** Any form of 'who wrote when', on one line. */
const introduction = new RegExp(
  `${opened.source}|^.{4,200}\\bschrieb am\\b.{4,200}:$|^.{0,200}<[^<>\\s]{3,100}@[^<>\\s]{3,100}>\\s?(?:wrote|schrieb|a écrit|escribió|escreveu)\\s?:$`,
  'i',
)

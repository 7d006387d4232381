/** Charsets of Latin letters, except the Western one, by the names that `TextDecoder` knows. */
export const latinCharsets = ['iso-8859-2', 'windows-1250', 'windows-1254', 'windows-1257'] as const

/** A language: its letters beyond ASCII, and what only its replies have. */
interface Language {
  letters: ReadonlySet<string>
  words: RegExp
}

const language = (letters: string, words: RegExp): Language => ({
  letters: new Set(letters),
  words,
})

// The same byte is ř in one charset and ø in another: a text has the letters of one language.
const languages: readonly Language[] = [
  language('äöüß', /empf|nicht|postfach|unbekannt|benutzer/),
  language('éèêëàâçîïôûùœ', /adresse|destinataire|utilisateur|bo.te/),
  language('áéíóúñü', /usuario|buz|direcci|cuenta/),
  language('áâãàçéêíóôõú', /usu.rio|caixa|existe|destinat/),
  language('àèéìòù', /casella|utente|indirizzo|destinatario/),
  language('åäöé', /anv.nd|mottagar|finns|k.ytt.j/),
  language('æøåé', /bruger|modtager|findes|bruker|mottaker|finnes/),
  language('áéíóúýþæðö', /notandi|ekki|vi.takand/),
  language('ëïéè', /gebruiker|ontvanger|onbekend/),
  language('áčďéěíňóřšťúůýž', /neexist|ivatel|schr.nk|nenalezen|nezn.m|neplatn/),
  language('áäčďéíĺľňóôŕšťúýž', /neexist|ivate|schr.nk|nen.jden|nezn.m|neplatn/),
  language('ąćęłńóśźż', /istniej|ytkownik|skrzynk|odbiorc|niezna/),
  language('áéíóöőúüű', /felhaszn|c.mzett|postafi|ismeretlen|l.tezik/),
  language('ăâîşţ', /utilizator|destinatar|\bnu\b|este|c.su/),
  language('čćđšž', /korisni|postoj|nepoznat|sandu|uporabnik|obstaja|primatelj/),
  // The dotted capital I becomes two characters in lower case.
  language(
    'çğıöşüâî\u0307',
    /kullan|bulunamad|hesap|posta kutusu|al.c.|ge.ersiz|mevcut|bilinmeyen/,
  ),
  language('āčēģīķļņšūž', /lietot|nav|sa.m.j/),
  language('ąčęėįšųūž', /vartotoj|nerast|gav.j|ne.inom/),
  language('äõöüšž', /kasutaja|saaja|aadress/),
]

/**
 * How plain a text is in Latin letters, from 0 to 1: plain words have few accents, all of one
 * language.
 */
export function latinPlainness(text: string): number {
  const small = text.toLowerCase()
  const accented = [...small].filter((char) => char > '\u007f')
  if (accented.length === 0) return 0
  const shares = languages.map(({ letters, words }) => {
    const own = accented.filter((char) => letters.has(char)).length / accented.length
    return own === 0 ? 0 : 0.55 + 0.35 * own + (words.test(small) ? 0.05 : 0)
  })
  return asWords(text) * Math.max(0.5, ...shares)
}

/** The share of the non-ASCII characters that are where such letters, or quotes and dashes, can be. */
function asWords(text: string): number {
  let count = 0
  let good = 0
  for (const [run] of text.matchAll(/[\p{L}\p{M}]+|[^\0-\x7f]/gu)) {
    const accents = run.replace(/[\0-\x7f]/g, '')
    if (accents === '') continue
    const chars = [...accents].length
    count += chars
    if (!/^[\p{L}\p{M}]/u.test(run)) {
      // Nobody writes the control characters of ISO 8859-1.
      if (run > '\u009f') good += 0.5
    } else if ((run.length - accents.length) * 3 < chars && run.length > 1) {
      // More accents than other letters: another alphabet.
    } else if (!/\p{Ll}(?![A-Z])\p{Lu}/u.test(run)) {
      // No accented capital follows a small letter.
      good += run.length === 1 ? 0.75 : chars
    }
  }
  return count === 0 ? 0 : good / count
}

import { type Form, formWith } from '../../http/index.js'
import { picturesAt } from '../../pictures/index.js'
import type { Read } from '../../store/index.js'

interface PictureWordsDeps {
  store: { read: Read }
  /** Where the account's pictures are served. */
  publicUrl: string
}

/** The field of a picture's card that has the address which its page was made with. */
export const chosenName = (place: string): string => `b.${place}.chosen`

/** The field of the small pictures of a card. */
export const pickedName = (place: string): string => `b.${place}.pick`

/** The address of a picture that somebody has pressed since its page was made; undefined: they have pressed none. */
export function pickedIn(fields: Form, place: string): string | undefined {
  const picked = fields.get(pickedName(place)) ?? ''
  return picked === '' || picked === fields.get(chosenName(place)) ? undefined : picked
}

/**
 * The form in which a picture that was chosen since its page was made says what it shows, as the account has written it beside the
 * picture, where nobody has written it into the card. Who has emptied that field has it stay empty.
 */
export async function withPictureWords(
  { store, publicUrl }: PictureWordsDeps,
  accountId: string,
  fields: Form,
): Promise<Form> {
  const chosen = fields.entries().flatMap(([name, typed]): [string, string][] => {
    const [, place] = /^b\.([\d.]{1,12})\.url$/.exec(name) ?? []
    const url = (place !== undefined && pickedIn(fields, place)) || typed
    if (place === undefined || url === fields.get(chosenName(place))) return []
    const isPicture = fields.get(`b.${place}.type`) === 'picture'
    const isEmpty = (fields.get(altName(place)) ?? '').trim() === ''
    return isPicture && isEmpty ? [[place, url]] : []
  })
  if (chosen.length === 0) return fields
  const urls = chosen.map(([, url]) => url)
  const found = await picturesAt(store.read, { accountId, publicUrl }, urls)
  const words = chosen.flatMap(([place, url]): [string, string][] => {
    const alt = found.get(url)?.alt ?? ''
    return alt === '' ? [] : [[altName(place), alt]]
  })
  return words.length === 0 ? fields : formWith(fields, new Map(words))
}

const altName = (place: string) => `b.${place}.alt`

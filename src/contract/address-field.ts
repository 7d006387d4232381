import { anAddress, type Field, text, textThat } from '../fields/index.js'
import { parseMailbox } from '../mime/index.js'

/** The address of somebody, `email@domain`, judged by the parser that reads it. */
export const addressField = (about: string, example?: string): Field<string> =>
  textThat(
    'an address: "email@domain"',
    (given) => parseMailbox(given) !== undefined,
    text(about, { ...(example !== undefined && { examples: [example] }) }),
    anAddress,
  )

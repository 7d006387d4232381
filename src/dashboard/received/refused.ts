import { counted } from '../../amounts/index.js'
import { type RefusedArrivals, refusedWords } from '../../receiving/index.js'

/** What an account's people are told of mail that was refused today. */
export const refusedSentence = ({ why, mails }: RefusedArrivals): string =>
  `${counted(mails, 'mail')} that came in today ${mails === 1 ? 'was' : 'were'} refused, as ${refusedWords[why]}.`

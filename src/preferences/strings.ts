import type { FieldType } from '../contact-fields/index.js'
import type { WhyLeft } from './leave-reasons.js'

/** Everything that recipients read, in one language. */
export interface Strings {
  /** BCP 47, for the page's `lang`. */
  language: string
  footerReason(account: string, topic: string | undefined): string
  footerChoose: string
  footerLeave: string
  /** In place of a name that is no longer known. */
  someTopic: string
  ask: PageStrings
  done: PageStrings
  back: PageStrings
  /** Asked of who has left, and never required. */
  reason: {
    legend: string
    choices: Readonly<Record<WhyLeft, string>>
    words: string
    button: string
    thanks: string
  }
  /** From the page of one button to the preference centre. */
  toCentre: string
  centre: CentreStrings
  /** To who was erased: they get nothing, whatever they press. */
  erased: { title: string; lines(names: Names): string[] }
  unknown: { title: string; lines: string[] }
  /** The page of links in copies that are shown to others than the recipient. */
  shown: { title: string; lines: string[] }
}

/** What sentences name. */
interface Names {
  account: string
  address: string
}

/** A page about who leaves what; `topic` is undefined for all marketing mail. */
interface PageStrings {
  title: string
  lines(names: Names & { topic: string | undefined }): string[]
  button: string
}

/** The sentences of the preference centre. */
interface CentreStrings {
  title(names: Names): string
  /** The first words, to somebody who gets something and to somebody who has left everything. */
  intro: { subscribed(names: Names): string; left(names: Names): string }
  unaffected: string
  unreachable(names: Names): string
  legend: string
  save: string
  /** Where there are more topics than fit on a page. */
  parts: { line: string; earlier: string; more: string }
  /** What they may change of what is known of them. */
  fields: {
    title(names: Names): string
    line: string
    none: string
    save: string
    saved: string
    notSaved: string
    wrong: Readonly<Record<FieldType, string>>
  }
  leave: { title: string; line(names: Names): string; button: string }
  comeBack: { title: string; line(names: Names): string; button: string }
  /** What came of the last button. */
  status: { saved: string; savedNone: string; stillLeft: string; left: string; back: string }
}

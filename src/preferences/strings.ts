import type { FieldType } from '../contact-fields/index.js'
import type { WhyLeft } from './leave-reasons.js'

/** Everything that recipients read, in one language. */
export interface Strings {
  /** BCP 47, for the page's `lang`. */
  language: string
  footerReason(account: string, topic: string | undefined): string
  footerChoose: string
  footerLeave: string
  /** Shown in place of a topic's name that is no longer known. */
  someTopic: string
  ask: PageStrings
  done: PageStrings
  back: PageStrings
  /** The question to whoever has left; an answer is never required. */
  reason: {
    legend: string
    choices: Readonly<Record<WhyLeft, string>>
    words: string
    button: string
    thanks: string
  }
  /** The link from the page with one button to the preference centre. */
  toCentre: string
  centre: CentreStrings
  /** For people who were erased: they get nothing, whatever they press. */
  erased: { title: string; lines(names: Names): string[] }
  unknown: { title: string; lines: string[] }
  /** The page behind links in copies that others than the recipient see. */
  shown: { title: string; lines: string[] }
}

/** The names that sentences use. */
interface Names {
  account: string
  address: string
}

/** A page about leaving a topic; `topic` is undefined for all marketing mail. */
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
  /** The fields that they may change of what is known of them. */
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
  /** The result of the last button. */
  status: { saved: string; savedNone: string; stillLeft: string; left: string; back: string }
}

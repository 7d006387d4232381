/** Everything that people who fill in a form read, in one language. `account` is the account's name. */
export interface FormWords {
  /** BCP 47. */
  language: string
  email: string
  firstName: string
  lastName: string
  topics: string
  choose: string
  optional: string
  submit: string
  /** Shown at a required field, or at a choice with a value that is not offered. */
  missing: string
  /** Before the choices. */
  noChoice: string
  noNumber: string
  noDate: string
  noAddress: string
  tooLong: string
  /** What a new form asks people to agree to. */
  consent: string
  agree: string
  /** Shown while the browser works for a careful form. */
  working: string
  /** Shown by a careful form where the browser runs no script. */
  noScript: string
  /** The page with one button between a form elsewhere, or one that was open for long, and its effect. */
  check: {
    title: string
    line: string
    /** For somebody who pressed the button sooner than people do. */
    again: string
    button: string
  }
  /** Shown after the form was sent in. */
  sent: { title: string; lines: string[] }
  /** Shown behind the mail's link. */
  confirm: { title(account: string): string; line(account: string): string; button: string }
  confirmed: { title: string; line(account: string): string }
  /** Behind a confirmed link, for somebody who no longer gets anything by it; `again` leads to the form. */
  lapsed: { title: string; line(account: string): string; again: string }
  later: { title: string; line: string }
  gone: { title: string; lines: string[] }
  /** In place of a form that has stopped, before and after somebody sends it in. */
  closed: { title: string; lines: string[] }
  /** Shown at an address without a form. */
  noForm: { title: string; lines: string[] }
  mail: {
    subject(account: string): string
    reminder(account: string): string
    line(account: string): string
    button: string
    ignore: string
  }
}

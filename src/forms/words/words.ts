/** Everything that who fills in a form reads, in one language. `account` is the account's name. */
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
  /** What stands at a field that has to be filled in, or in which nothing fits that can be chosen. */
  missing: string
  noNumber: string
  noDate: string
  noAddress: string
  tooLong: string
  /** What a new form asks people to agree to. */
  consent: string
  agree: string
  /** While the browser works for a form that is careful. */
  working: string
  /** The page of one button between a form elsewhere, or one that was open for long, and its effect. */
  check: {
    title: string
    line: string
    /** To who pressed it sooner than people do. */
    again: string
    button: string
  }
  /** After it was sent in. */
  sent: { title: string; lines: string[] }
  /** Behind the link of the mail. */
  confirm: { title(account: string): string; line(account: string): string; button: string }
  confirmed: { title: string; line(account: string): string }
  /** Behind a link that was confirmed, to who gets nothing by it any more; `again` leads to the form. */
  lapsed: { title: string; line(account: string): string; again: string }
  later: { title: string; line: string }
  gone: { title: string; lines: string[] }
  /** At an address of a form that there is not. */
  noForm: { title: string; lines: string[] }
  mail: {
    subject(account: string): string
    reminder(account: string): string
    line(account: string): string
    button: string
    ignore: string
  }
}

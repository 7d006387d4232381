/** What an operator can be told of, and silence: `[operator] silence` names these. */
export const noticeKinds = {
  'account-paused': 'an account is paused',
  'account-warned': 'an account nears a pause',
  backup: 'a backup or its check failed, or is overdue',
  blocklist: 'an address that mail leaves from is on a blocklist',
  certificate: 'a certificate ends soon, or is wrong',
  database: 'the database cannot be read or written',
  disk: 'the disk is nearly full',
  doctor: "another finding of 'posthorn doctor'",
  'domain-record': 'a DNS record of a sending domain is gone or wrong',
  failover: 'mail goes by the smart hosts',
  held: 'mail is held until somebody decides',
  job: 'another job of the calendar fails, is overdue, or has found something',
  'parked-reports': 'returned mail could not be read',
  'queue-stuck': 'mail is due and does not leave',
  retention: 'old data cannot be deleted, or goes early',
  thread: 'a thread of Posthorn starts again and again',
  webhook: 'a webhook is switched off',
} as const

export type NoticeKind = keyof typeof noticeKinds

export const isNoticeKind = (text: string): text is NoticeKind => Object.hasOwn(noticeKinds, text)

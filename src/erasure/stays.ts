/**
 * What an erasure leaves, and until when. Every erasure tells this, so that whoever asked for it gets a true answer.
 * What is not listed here is replaced or deleted.
 */
const left: readonly { what: string; until: string; whatInPages?: string; inPages?: string }[] = [
  {
    what: 'A keyed hash of the address, so that nobody mails it again',
    whatInPages:
      'A mark made of the address, which cannot be read back, so that nobody mails it again',
    until:
      'the address confirms by a form that it wants mail again, or you lift it; its key lies in the same database',
    inPages: 'they confirm by a form that they want mail again, or you lift it',
  },
  {
    what: 'Contents of mails, and a name that stands in a subject',
    until: 'the mails’ bodies and the mails go ([retention] bodies, and the plan)',
    inPages: 'the mails go from the log, as your plan says',
  },
  {
    what: 'Mails to the operator (postmaster, abuse) and returned mails that nobody could read',
    until: '[retention] inbound is over',
    inPages: 'the time for which this server keeps such mail is over',
  },
  {
    what: 'To whom mails went that the log has deleted already, for late bounces and complaints',
    until: '60 days after they were delivered',
  },
  {
    what: 'Idempotency keys of your requests, where you made them of the address',
    whatInPages:
      'Marks by which your programs repeat a request, where they made them of the address',
    until: '24 hours after the request',
  },
  {
    what: 'Copies of mail that came in and was sent on, and what its receivers have of it',
    until: 'the appliance’s own mails go, and as their receivers keep it',
  },
  {
    what: 'A file that was given in for an import and is not imported',
    until: 'a day',
    inPages: 'a day has gone by',
  },
  {
    what: 'The inbox of a sandbox',
    until: 'newer mails have taken its place (sandbox.keep_messages)',
    inPages: 'newer mails have taken its place',
  },
  { what: 'What other people’s fields and other mails say of them', until: 'you change those' },
  {
    what: 'Lines of the appliance’s log (the system’s journal, or a file) about mails to the address',
    whatInPages:
      'Lines of this server’s own log about mails to the address, which its operator alone reads',
    until: 'the journal or file is rotated',
    inPages: 'the server drops old lines',
  },
  { what: 'Backups that were made before', until: 'you delete them' },
]

/** As the API and commands tell it, naming the operator's settings. */
export const stays: readonly Staying[] = left.map(({ what, until }) => ({ what, until }))

/** The same for people of an account, who see no settings. */
export const staysInPages: readonly Staying[] = left.map(
  ({ what, whatInPages, until, inPages }) => ({
    what: whatInPages ?? what,
    until: inPages ?? until,
  }),
)

/** What an erasure leaves, and until when. */
export interface Staying {
  what: string
  until: string
}

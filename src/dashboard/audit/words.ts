import type { LoggedChange } from '../../audit/index.js'

/** What was changed and how, in words for readers of the log. */
export interface ChangeInWords {
  /** `automation`, `key`: the kind of the thing. */
  thing: string
  /** Its id or name, where the log has one. */
  target: string | undefined
  /** `delete`: what was done to it. */
  verb: string
  /** `Automation “Onboarding” enabled`. */
  says(name: string | undefined): string
}

/** What things are called, where the log's own word is not the page's. */
const things: Record<string, string> = {
  broadcast: 'Campaign',
  codes: 'Recovery codes',
  event: 'Event of the API',
  field: 'Field of contacts',
  inbox: 'Test inbox',
  key: 'API key',
  'operator-key': "Operator's key",
  list: 'Contact list',
  passkey: 'Passkey',
  received: 'Received mail',
  receiving: 'Rule for incoming mail',
  report: 'Inbound mail',
  run: 'Run of an automation',
  site: 'Site',
  surge: 'Mail held for a surge',
  suppression: 'Suppression of',
  team: 'Member',
  totp: 'Authenticator app',
  webhook: 'Webhook',
}

/** What somebody did, in the form that is said of the thing afterwards. */
const verbs: Record<string, string> = {
  add: 'added',
  archive: 'archived',
  ask: 'asked to confirm',
  batch: 'sent',
  cancel: 'cancelled',
  'cancel-rest': 'cancelled, as far as it had not left',
  change: 'changed',
  check: 'checked',
  clear: 'emptied',
  create: 'created',
  delete: 'deleted',
  demote: 'is no operator any more',
  disable: 'disabled',
  download: 'downloaded',
  duplicate: 'copied',
  enable: 'enabled',
  export: 'exported',
  fail: 'given up',
  hold: 'held',
  import: 'imported',
  invite: 'invited',
  join: 'joined',
  language: 'has another language',
  lift: 'lifted',
  move: 'moved to another version',
  pause: 'paused',
  promote: 'is an operator now',
  release: 'released',
  choose: 'has a version chosen for the rest',
  remove: 'removed',
  rename: 'renamed',
  renew: 'renewed',
  replay: 'sent again',
  reset: 'given a link for a new password',
  restore: 'brought back to an older version',
  resume: 'resumed',
  retry: 'tried again',
  revoke: 'no longer invited',
  'revoke-invitation': 'no longer invited',
  bind: 'tied to the provider of the log-in',
  unbind: 'tied to the provider of the log-in no more',
  role: 'has another role',
  rotate: 'has a new secret',
  run: 'run',
  samples: 'has other sample values',
  save: 'saved',
  send: 'sent',
  set: 'set',
  start: 'started for a contact',
  draft: 'has a draft',
  'discard-draft': 'has its draft thrown away',
  'take-out': 'left by all who fit',
  'stop-taking-out': 'left by nobody more',
  'start-many': 'started for a list or a segment',
  'stop-many': 'started for no more of a list or a segment',
  suspend: 'suspended',
  'take-back': 'a draft again',
  test: 'tested',
  tracking: 'has other tracking',
  undo: 'undone',
  unpause: 'released from its pause',
  unsuspend: 'suspended no more',
  update: 'changed',
  use: 'used',
  verify: 'checked',
}

/** Whole sentences for which thing and verb do not serve. */
const whole: Record<string, string> = {
  'account.view-as': 'An operator looked into the account',
  'contact.import': 'Contacts imported from a file',
  'contact.bulk': 'Work with all contacts that fit started',
  'contact.bulk_stop': 'Work with contacts stopped',
  'contact.download': 'What is known of somebody downloaded',
  'contact.erase': 'What is known of somebody erased',
  'emails.export': 'Log of emails downloaded',
  'form.careful': 'Form became careful: confirmations came back',
  'form.stop': 'Form stopped itself: too many confirmations came back',
  'import.export': 'Refused lines of an import downloaded',
  'operator.look': "Looked at by the operator's API",
  'password.change': 'Password changed',
  'receiving.host': 'Where a domain receives mail changed',
  'recovery-code.use': 'A recovery code used',
  'recovery-codes.renew': 'New recovery codes made',
  login: 'Logged in',
  setup: 'Set up',
  'suppression.export': 'Suppression list downloaded',
  'suppression.import': 'Addresses suppressed from a file',
  'totp.add': 'Authenticator app added',
  'totp.remove': 'Authenticator app removed',
}

/**
 * A row of the log in words. `action` is the operation, by whichever door it came, or a command that no operation of
 * the API does: `key.create`, `posthorn queue hold`. An unknown word is shown as it is.
 */
export function changeInWords({
  action,
  target,
  detail = {},
}: Pick<LoggedChange, 'action' | 'target'> & Partial<Pick<LoggedChange, 'detail'>>): ChangeInWords {
  const { thing, verb } = partsOf(action)
  const sentence = whole[`${thing}.${verb}`] ?? whole[action]
  const given = target ?? ''
  // A command's arguments: the id of a thing, and the rest.
  const isList = action.startsWith('posthorn ') || /^[0-9a-f-]{36} /.test(given)
  const first = isList ? given.split(' ')[0] : given
  return {
    thing,
    verb,
    target: first === '' ? undefined : first,
    says(name) {
      if (sentence !== undefined) return sentence
      const said = things[thing] ?? thing.charAt(0).toUpperCase() + thing.slice(1)
      const named = name === undefined ? said : `${said} “${name}”`
      const done = verb === 'notice' ? noticed(detail) : verbs[verb]
      return done === undefined ? `${named}: ${verb.replaceAll('-', ' ')}` : `${named} ${done}`
    },
  }
}

/** Whether somebody made the campaign a notice or a newsletter again: the row of a notice has a reason. */
const noticed = ({ reason }: LoggedChange['detail']): string =>
  reason ? 'made a notice that everybody must get' : 'made a newsletter again, and no notice'

function partsOf(action: string): { thing: string; verb: string } {
  const [thing = '', ...rest] = action.replace(/^posthorn /, '').split(/[. ]/)
  // `user.update` from a page, or `posthorn user` from a command that has no more words.
  return { thing, verb: rest.join(' ') || 'change' }
}

import { oneLine } from '../notices/index.js'
import type { Read, Store, Tx } from '../store/index.js'

// The rest is told at the next look.
const perRun = 20

const happened = {
  careful: {
    subject: 'is careful: some of its confirmations came back',
    lines: [
      'Somebody may fill in addresses of others. For seven days it asks browsers to do some work for each address, and sends few mails to those who did none.',
    ],
  },
  stopped: {
    subject: 'has stopped: too many of its confirmations came back',
    lines: [
      'Somebody fills in addresses of others. It sends no mail, and nobody can sign up by it, until somebody lets it go on: its page says so, and nothing that is sent in meanwhile is kept.',
    ],
  },
} as const

/** Mails an account's owners that a form has become careful or has stopped, once for each. */
export async function announceForms(
  {
    store,
    ownerAddresses,
    mail,
  }: {
    store: Store
    ownerAddresses(read: Read, accountId: string): Promise<string[]>
    /** Writes a mail of the appliance itself. */
    mail(tx: Tx, mail: { to: string; subject: string; text: string }): Promise<void>
  },
  signal: AbortSignal,
): Promise<void> {
  const rows = await store.read
    .selectFrom('form_alarms')
    .innerJoin('forms', 'forms.id', 'form_alarms.form_id')
    .select(['form_id', 'state', 'account_id', 'name'])
    .limit(perRun)
    .execute()
  for (const { form_id, state, account_id, name } of rows) {
    if (signal.aborted) return
    const { subject, lines } = happened[state]
    const headline = `The form "${oneLine(name, 100)}" ${subject}`
    await store.write(async (tx) => {
      const { numDeletedRows } = await tx
        .deleteFrom('form_alarms')
        .where('form_id', '=', form_id)
        .where('state', '=', state)
        .executeTakeFirstOrThrow()
      // Another node has told it meanwhile.
      if (numDeletedRows === 0n) return
      for (const to of await ownerAddresses(tx, account_id)) {
        await mail(tx, { to, subject: headline, text: textOf(headline, lines) })
      }
    })
  }
}

const textOf = (headline: string, lines: readonly string[]) =>
  [
    `${headline}.`,
    ...lines,
    'Your other mail is not touched.',
    '',
    "The form's page in the dashboard, under Forms, shows how many came back, and has the button that lets it go on.",
  ].join('\n')

import { noteAudit } from '../audit/index.js'
import type { Tx } from '../store/index.js'
import { isCarefulForm } from './careful.js'

interface Alarm {
  state: 'careful' | 'stopped'
  tally: Readonly<Record<'mails' | 'bounces' | 'complaints', number>>
  at: number
}

/**
 * Notes that a form becomes careful or stops, before it is written: in the audit log, and for the mail to the owners.
 * Nothing where it was so already.
 */
export async function noteAlarm(
  tx: Tx,
  formId: string,
  { state, tally, at }: Alarm,
): Promise<void> {
  const form = await tx
    .selectFrom('forms')
    .select(['account_id', 'name', 'careful_at', 'stopped_at'])
    .where('id', '=', formId)
    .executeTakeFirst()
  if (form === undefined || form.stopped_at !== null) return
  if (state === 'careful' && isCarefulForm({ carefulAt: form.careful_at }, at)) return
  await tx
    .insertInto('form_alarms')
    .values({ form_id: formId, state })
    .onConflict((conflict) => conflict.column('form_id').doUpdateSet({ state }))
    .execute()
  await noteAudit(tx, {
    actor: { kind: 'system', userId: null, name: 'Posthorn', clientAddressKey: null },
    accountId: form.account_id,
    action: state === 'stopped' ? 'form.stop' : 'form.careful',
    target: formId,
    detail: { name: form.name, ...tally },
    at,
  })
}

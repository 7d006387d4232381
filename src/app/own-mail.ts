import type { Config } from '../config/index.js'
import { insertNotice } from '../emails/index.js'
import type { Core } from './listener-parts.js'

/** A mail of the appliance itself, to somebody who is asked to log in. */
export async function mailOwn(
  { store, clock, backlog, ring }: Core,
  { outbound, operator }: Config,
  mail: { to: string; subject: string; text: string },
): Promise<boolean> {
  const { retry } = outbound
  const { from } = operator
  const made = await store.write((tx) =>
    insertNotice({ store, retry }, tx, { ...mail, from, now: clock.now() }),
  )
  if (made === undefined) return false
  backlog.change(1)
  ring(made.due)
  return true
}

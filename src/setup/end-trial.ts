import { listAccounts, renameAccount } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import { deleteDomain, distrustDomain, listDomains } from '../domains/index.js'
import { OperatorError } from '../errors/index.js'
import { forgetSources } from '../outbound/index.js'
import type { Read, Store } from '../store/index.js'
import { sandboxAnswers } from './answers.js'

interface TrialDeps {
  store: Store
  clock: Clock
}

// The names that `setup --sandbox` and the quickstart give the account.
const trialNames: readonly string[] = [sandboxAnswers.domain, 'Sandbox']

/** Throws an OperatorError where mail of the trial waits: a server would send it to its real recipients. */
export async function refuseWaitingTrial(read: Read): Promise<void> {
  const waiting = await read.selectFrom('queue').select('id').limit(1).executeTakeFirst()
  if (waiting === undefined) return
  throw new OperatorError(
    'Mail of the trial still waits, and would leave this machine once it is a server. Nothing was changed',
    {
      advice: "'posthorn queue fail --all --yes --reason trial' gives it up; then run setup again",
    },
  )
}

/**
 * Removes what was only true while no mail left the machine, and would be wrong for a server: the trial's domain, the
 * trust in others, the warm-up of its addresses, and the account's name, which becomes `name`. It may be called
 * again. Returns what was done, a line each.
 */
export async function endTrial({ store, clock }: TrialDeps, name: string): Promise<string[]> {
  const done: string[] = []
  const accounts = await listAccounts(store.read)
  let isFree = accounts.every((account) => account.name !== name)
  for (const account of accounts) {
    for (const domain of await listDomains(store.read, account.id)) {
      if (domain.name === sandboxAnswers.domain) {
        await deleteDomain({ store, clock }, account.id, domain.name)
        done.push(`${domain.name}, the trial's domain`)
      } else if (domain.trusted) {
        await distrustDomain({ store }, account.id, domain.name)
        done.push(`the trust in ${domain.name}: its records have to be there`)
      }
    }
    if (!trialNames.includes(account.name) || !isFree) continue
    isFree = false
    await renameAccount({ store }, account.id, name)
    done.push(`the account's name ${account.name}: it is ${name} now`)
  }
  await store.write(forgetSources)
  return done
}

import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { createList, importContacts } from '../../src/contacts/index.js'
import { makeTurns, openStore, type Store } from '../../src/store/index.js'

/** Over so many, in turn. */
export const listDomains = 20

/** A list of that many contacts, and a plan for mail to it. */
export async function fillList(
  dataDir: string,
  accountId: string,
  contacts: number,
): Promise<string> {
  const store = await openBeside(dataDir)
  const plan = loadPlans(packageFile('config/plans.toml')).marketing.at(-1) ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, plan))
  const { id: listId } = await createList({ store, clock }, accountId, 'Readers')
  const file = (async function* () {
    yield Buffer.from('email,firstName,lastName,town\n')
    for (let i = 0; i < contacts; i += 1_000) {
      const rows = Array.from(
        { length: Math.min(1_000, contacts - i) },
        (_, k) => `p${i + k}@d${(i + k) % listDomains}.test,First${i + k},Last${i + k},Lagos\n`,
      )
      yield Buffer.from(rows.join(''))
    }
  })()
  const options = { listId, ceiling: null, file: 'bench.csv', defaultCountry: 'NG' }
  await importContacts({ store, clock }, accountId, file, options)
  await store.close()
  return listId
}

/** The store, in the last write slot: no thread of an appliance has it. */
export function openBeside(dataDir: string): Promise<Store> {
  return openStore({ dataDir, clock, turns: makeTurns(), slot: 15 })
}

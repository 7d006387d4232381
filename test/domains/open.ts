import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

export const settings = {
  heloName: 'Mail.Appliance.test',
  sourceAddresses: ['192.0.2.7', '2001:db8::7'],
}

/** A store with one account, and a way to add domains to it. */
export async function openDomains(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock, key: makeApplianceKey(Buffer.alloc(32, 1)), settings }
  const { id: accountId } = await createAccount(deps, 'City')
  return {
    deps,
    store,
    clock,
    accountId,
    read: store.read,
    add: (name: string, trust = false) => addDomain(deps, accountId, name, { trust }),
  }
}

import t, { type Test } from 'tap'
import { dayMs } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { checkAcme } from '../../src/doctor/certificates.js'
import { tellCertificates } from '../../src/doctor/index.js'
import { openNotices } from '../../src/notices/index.js'
import { acmeRig } from '../support/acme-rig.js'
import { testCertificates } from '../support/tls.js'

const tls = testCertificates(t, 'acme.test')
const key = makeApplianceKey(Buffer.alloc(32, 7))

const rig = async (t: Test) => {
  const made = await acmeRig(t, await tls)
  const { deps, store } = made
  return {
    ...made,
    find: () => checkAcme({ ...deps, read: store.read, key }),
    tell: async () => {
      await tellCertificates(deps)
      return await openNotices(store.read)
    },
  }
}

t.test(
  'a renewal that fails is told by how long the certificate lasts that is there',
  async (t) => {
    const { renew, directory, clock, certificate, find, tell } = await rig(t)
    t.match(await find(), [{ state: 'fail', found: /no certificate: not ordered yet/ }])
    await renew()
    t.match(await find(), [{ check: 'acme', subject: 'mail.test', state: 'ok' }])
    t.same(await tell(), [])
    directory.behaviour.fault = 'unavailable'
    const endsAt = certificate()?.endsAt ?? 0
    const seen: string[] = []
    for (const days of [25, 20, 8, 7]) {
      await clock.advance(endsAt - days * dayMs - clock.now())
      await renew()
      t.match(await find(), [
        { state: 'warn', found: /not renewed: .*HTTP 503/, fix: /renew mail/ },
      ])
      seen.push(`${days} ${(await tell()).map(({ severity }) => severity).join()}`)
    }
    t.same(seen, ['25 ', '20 daily', '8 daily', '7 burning'])
    directory.behaviour.fault = undefined
    await clock.advance(dayMs)
    await renew()
    t.match(await find(), [{ state: 'ok' }])
    t.same(await tell(), [], 'settled with the new one')
  },
)

t.test(
  'a name that gets no certificate at all is told within two hours, with the fix',
  async (t) => {
    const { renew, listener, clock, find, tell } = await rig(t)
    listener.port = 1
    await renew()
    t.match(await find(), [
      { state: 'fail', found: /\(connection\)/, fix: /port 80 of mail\.test/ },
    ])
    t.same(await tell(), [], 'it may come right by itself')
    await clock.advance(2 * 3_600_000)
    t.match(await tell(), [
      {
        kind: 'certificate',
        severity: 'burning',
        key: 'ACME mail.test',
        text: /There is none yet/,
        fix: /port 80 of mail\.test/,
      },
    ])
  },
)

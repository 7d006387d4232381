// Issue 'what operators and developers ask' 10: a seal of which the second ended while it was made did not hold.
import { generateKeyPairSync } from 'node:crypto'
import { authenticate } from 'mailauth'
import t from 'tap'
import { sealOf } from '../../src/receiving/seal.js'

t.test('a seal has one time, that of the clock, and holds', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const domain = {
    name: 'seal.test',
    selector: 's',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  const read = {
    arc: { instance: 1, cv: 'none' as const, results: 'mx.test; spf=pass smtp.mailfrom=a@x.test' },
    verdicts: { arc: { result: 'none', instances: 0, info: '' } },
  }
  const raw = Buffer.from(
    'From: a@x.test\r\nTo: b@y.test\r\nSubject: m\r\nMessage-ID: <1@x.test>\r\n\r\nHello\r\n',
  )
  // Years away from what the machine's clock says, and within a second.
  const now = Date.parse('2020-05-17T10:00:00.999Z')
  const seal = await sealOf(raw, read, domain, now)
  const times = [...seal.matchAll(/\bt=(\d+)/g)].map(([, time]) => Number(time))
  t.same(times, [Math.floor(now / 1_000), Math.floor(now / 1_000)])
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const { arc } = await authenticate(Buffer.concat([Buffer.from(seal, 'latin1'), raw]), {
    ip: '192.0.2.1',
    helo: 'x.test',
    sender: 'a@x.test',
    mta: 'mx.test',
    disableBimi: true,
    resolver: async (name: string, type: string) => {
      if (type === 'TXT' && name === 's._domainkey.seal.test') return [[`v=DKIM1; p=${key}`]]
      throw Object.assign(new Error('none'), { code: 'ENODATA' })
    },
  })
  t.match(arc, { status: { result: 'pass' } })
})

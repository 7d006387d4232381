import t from 'tap'
import { hostAddresses, isPublicAddress, parseCidrs } from '../../src/dns/index.js'

const publicAddresses = [
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4009:80b::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
]

const forbidden: [string, string][] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'this network'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['10.1.2.3', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['169.254.169.254', 'link-local, cloud metadata'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['192.0.0.170', 'protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['198.18.0.1', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['224.0.0.251', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['fc00::1', 'unique local'],
  ['fd12:3456::1', 'unique local'],
  ['ff02::1', 'multicast'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['100::1', 'discard'],
  ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
  ['::ffff:7f00:1', 'IPv4-mapped loopback in hex'],
  ['::ffff:10.0.0.1', 'IPv4-mapped private'],
  ['::127.0.0.1', 'IPv4-compatible loopback'],
  ['::8.8.8.8', 'IPv4-compatible'],
  ['::808:808', 'IPv4-compatible in hex'],
  ['2002:7f00:1::', '6to4 of loopback'],
  ['2002:808:808::1', '6to4'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo'],
  ['64:ff9b::7f00:1', 'NAT64 of loopback'],
  ['64:ff9b::a00:1', 'NAT64 of private'],
  ['64:ff9b:1::808:808', 'local NAT64'],
  ['4000::1', 'unallocated'],
]

const notAddresses = ['', 'localhost', '0x7f.1', '2130706433', '127.1', '0177.0.0.1', '8.8.8.8/32']

t.test('an address of the public internet is public', async (t) => {
  for (const address of publicAddresses) t.equal(isPublicAddress(address), true, address)
})

t.test('an address that leads inside, or nowhere, is not', async (t) => {
  for (const [address, why] of forbidden) {
    t.equal(isPublicAddress(address), false, `${address}: ${why}`)
  }
})

t.test('text that is not a plain address is not public', async (t) => {
  for (const text of notAddresses) t.equal(isPublicAddress(text), false, JSON.stringify(text))
})

t.test('allowed networks let exactly their own addresses through', async (t) => {
  const allowed = ['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1']
  t.equal(isPublicAddress('10.1.200.3', allowed), true)
  t.equal(isPublicAddress('::ffff:10.1.200.3', allowed), true, 'also in the mapped form')
  t.equal(isPublicAddress('10.2.0.1', allowed), false)
  t.equal(isPublicAddress('fd00:1::25', allowed), true)
  t.equal(isPublicAddress('fd00:2::25', allowed), false)
  t.equal(isPublicAddress('127.0.0.1', allowed), true, 'a single address stands for itself')
  t.equal(isPublicAddress('127.0.0.2', allowed), false)
})

t.test('a network that cannot be read is named', async (t) => {
  for (const text of ['10.0.0.0/33', 'home', '10/8', '0x7f.1', '10.0.0.0/']) {
    t.throws(() => parseCidrs([text]), new RegExp(`'${text}' is not a network`), text)
  }
  t.equal(parseCidrs(['10.0.0.0/8', '::1', '2001:db8::/32']).length, 3)
})

t.test('a host that is an address is asked of nobody, nor is this machine', async (t) => {
  const asked = () => Promise.resolve({ kind: 'failed' as const, cause: 'REFUSED' })
  const resolver = { a: asked, aaaa: asked }
  t.same(await hostAddresses(resolver, '::1'), { addresses: ['::1'] })
  t.same(await hostAddresses(resolver, 'localhost'), { addresses: ['127.0.0.1', '::1'] })
  t.match(await hostAddresses(resolver, 'mail.test'), { failed: 'address of mail.test: REFUSED' })
})

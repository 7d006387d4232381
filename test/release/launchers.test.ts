import { readFileSync } from 'node:fs'
import t from 'tap'

const settingsOf = (file: string) => {
  const text = readFileSync(file, 'utf8')
  return [...new Set(text.match(/--[\w-]+=\d+|MALLOC_ARENA_MAX=\d+/g))].sort()
}

t.test('a release starts with the same settings of V8 and malloc as a checkout', async (t) => {
  const ofCheckout = settingsOf('bin/posthorn')
  t.equal(ofCheckout.length, 4)
  t.same(settingsOf('bin/pack/posthorn.sh'), ofCheckout)
})

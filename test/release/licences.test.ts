import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'

/** What a package is, and under which terms. */
interface Licensed {
  name: string
  version: string
  licence: string
  text: string
}

const { licenceOf, licencesFile } = (await import(
  pathToFileURL(resolve('bin/pack/licences.js')).href
)) as {
  licenceOf(folder: string): Licensed
  licencesFile(packages: Licensed[]): string
}

function makePackage(t: Test, fields: object, files: Record<string, string> = {}): string {
  const manifest = { name: 'a-package', version: '1.2.3', ...fields }
  return t.testdir({ 'package.json': JSON.stringify(manifest), ...files })
}

t.test('a package without a licence stops the release', async (t) => {
  t.throws(() => licenceOf(makePackage(t, {})), { message: 'a-package 1.2.3 names no licence' })
})

t.test('so does one with a licence that nobody has looked at', async (t) => {
  for (const license of ['AGPL-3.0-only', 'SEE LICENSE IN terms.txt', 'UNLICENSED', '']) {
    const folder = makePackage(t, { license }, { LICENSE: 'Terms' })
    t.throws(() => licenceOf(folder), {
      message: /has the licence '.*' *, which is not in the list/,
    })
  }
})

t.test('of licences to choose from, one that is known is taken', async (t) => {
  const folder = makePackage(t, { license: '(GPL-2.0 OR MIT)' }, { LICENSE: 'Both' })
  t.equal(licenceOf(folder).licence, 'MIT')
  const both = makePackage(t, { license: '(GPL-2.0 AND MIT)' }, { LICENSE: 'Both' })
  t.throws(() => licenceOf(both), { message: /has the licence/ })
})

t.test('so does one that names a licence whose text is nowhere', async (t) => {
  const folder = makePackage(t, { license: 'BSD-3-Clause' })
  t.throws(() => licenceOf(folder), { message: /comes without the text of BSD-3-Clause/ })
})

t.test('its own text is taken, with the notice beside it', async (t) => {
  const folder = makePackage(
    t,
    { license: 'Apache-2.0' },
    { 'LICENSE.txt': 'The terms\n', NOTICE: 'Who made it\n', 'licenses.js': 'code' },
  )
  t.same(licenceOf(folder), {
    name: 'a-package',
    version: '1.2.3',
    licence: 'Apache-2.0',
    text: 'The terms\n\nWho made it',
  })
})

t.test('old forms of package.json are understood', async (t) => {
  for (const fields of [
    { license: { type: 'MIT' }, author: 'Ada' },
    { licenses: [{ type: 'MIT' }], author: { name: 'Ada' } },
  ]) {
    const { licence, text } = licenceOf(makePackage(t, fields))
    t.equal(licence, 'MIT')
    t.match(text, /^Copyright \(c\) Ada\n\nPermission is hereby granted/)
  }
})

t.test('the list names every package, and a text that many share once', async (t) => {
  const one = { version: '1.0.0', licence: 'MIT', text: 'The text' }
  const list = licencesFile([
    { ...one, name: 'zebra' },
    { ...one, name: 'ant' },
    { ...one, name: 'bee', licence: 'ISC', text: 'Another' },
  ])
  t.match(list, /ant 1\.0\.0 +MIT\nbee 1\.0\.0 +ISC\nzebra 1\.0\.0 +MIT\n/)
  t.equal(list.split('The text').length, 2)
  t.match(list, 'ant 1.0.0, zebra 1.0.0\n\nThe text')
})

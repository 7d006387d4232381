// The licences of all that a release carries. Who distributes a package hands on its licence; one that
// nobody has looked at does not go out.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** SPDX names of licences that allow to pass a package on in binary form, without its source. */
const accepted = new Set([
  'MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0',
  'BlueOak-1.0.0', 'CC0-1.0', 'Unlicense',
])

/** What a package's README says where its package.json does not. */
const stated = { 'combine-errors': 'MIT' }

/** Of packages that name a licence and leave out its text. */
const texts = {
  MIT: (holder) => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`,
  ISC: (holder) => `Copyright (c) ${holder}

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is
hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE
INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE
FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS
OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING
OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`,
  'Apache-2.0': (holder) => `Copyright ${holder}
Licensed under the Apache License, Version 2.0, whose text stands in this file under ejs.
`,
}

/**
 * What the package in `folder` is and under which terms: `{ name, version, licence, text }`. Throws where
 * it names no licence, or one that is not among those that were looked at.
 */
export function licenceOf(folder) {
  const { name, version, author, ...rest } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const offered = named(rest) ?? stated[name]
  if (offered === undefined) throw new Error(`${name} ${version} names no licence`)
  // '(BSD-3-Clause OR GPL-2.0)' leaves the choice to who hands the package on.
  const licence = offered
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .find((one) => accepted.has(one))
  if (licence === undefined) {
    throw new Error(
      `${name} ${version} has the licence '${offered}', which is not in the list of bin/pack/licences.js: ` +
        'see whether a release may carry it',
    )
  }
  const files = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|unlicense|notice)(\.(md|txt|mit|apache))?$/i.test(file))
    .sort()
  const own = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  if (own.length > 0) return { name, version, licence, text: own.join('\n\n') }
  const text = texts[licence]?.(typeof author === 'string' ? author : (author?.name ?? `${name}'s authors`))
  if (text === undefined) throw new Error(`${name} ${version} comes without the text of ${licence}`)
  return { name, version, licence, text: text.trim() }
}

/** `license` is a name, or in old packages an object or a list of one. */
function named({ license, licenses }) {
  const one = [license ?? licenses].flat()[0]
  return typeof one === 'object' ? one?.type : one
}

/** The file LICENSES: a table of all packages, then each text once, under those that have it. */
export function licencesFile(packages) {
  const all = packages.toSorted((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
  const table = all.map(({ name, version, licence }) => `${`${name} ${version}`.padEnd(48)} ${licence}`)
  const byText = new Map()
  for (const one of all) byText.set(one.text, [...(byText.get(one.text) ?? []), one])
  const sections = [...byText].map(([text, those]) => {
    const heading = those.map(({ name, version }) => `${name} ${version}`).join(', ')
    return `${'-'.repeat(100)}\n${heading}\n\n${text}\n`
  })
  return [
    'What this release of Posthorn carries, and under which licences. Posthorn itself: LICENSE.\n',
    `${[...new Set(table)].join('\n')}\n`,
    ...sections,
  ].join('\n')
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** Node and what is in it: OpenSSL, V8, ICU and others, in one text of its own. */
export function licenceOfNode(folder, version) {
  const file = join(folder, 'LICENSE')
  if (!existsSync(file)) throw new Error(`${file} is missing`)
  return { name: 'node', version, licence: 'MIT', text: readFileSync(file, 'utf8').trim() }
}

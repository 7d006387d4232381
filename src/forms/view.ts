import { readFileSync } from 'node:fs'
import ejs from 'ejs'
import type { Brand } from '../accounts/index.js'
import { packageFile } from '../config/index.js'
import type { Page } from '../http/index.js'
import { coloursPath } from '../preferences/index.js'
import { wordsIn } from './words/index.js'
import type { FormWords } from './words/words.js'

interface Frame {
  language: string
  title: string
  logo: string | undefined
  /** Where the brand's colours are; undefined: they are those of everybody. */
  colours: string | undefined
}

/** A form as the hosted page has it. */
export interface HostedView extends Frame {
  action: string
  stamp: string
  /** How many bits of work the browser is asked for (`work.ts`); undefined: none. */
  work: number | undefined
  words: FormWords
  fields: {
    name: string
    label: string
    type: 'text' | 'email' | 'date' | 'choice'
    required: boolean
    choices: readonly string[]
    value: string
    autocomplete: string | undefined
    fault: string | undefined
  }[]
  topics: { id: string; name: string; description: string; chosen: boolean }[]
  consent: string
  agreed: boolean
  agreeFault: string | undefined
  postal: string
}

/** A page of a few sentences and at most one button. */
export interface StepView extends Frame {
  lines: readonly string[]
  form?: {
    action: string
    button: string
    hidden: readonly (readonly [string, string])[]
    work: number | undefined
    working: string
  }
}

export const renderHosted = compiled<HostedView>('form')
export const renderStep = compiled<StepView>('step')

/** A page that no search engine lists; `headers` win over the defaults. */
export const formPage = (
  html: string,
  status = 200,
  headers: Record<string, string> = {},
): Page => ({
  status,
  html,
  headers: { 'X-Robots-Tag': 'noindex', 'Cache-Control': 'no-store', ...headers },
})

export const frameOf = (
  { colours }: Brand,
  logoId: string | null,
  { language, title }: { language: string; title: string },
): Frame => ({
  language,
  title,
  logo: logoId === null ? undefined : `/logo/${logoId}`,
  colours: coloursPath(colours),
})

/** For every address that leads nowhere, whatever is wrong with it. */
export function gonePage(): Page {
  const { gone, language } = wordsIn.en
  return formPage(renderStep({ language, ...gone, logo: undefined, colours: undefined }), 404)
}

/** A view made into a function, once; it is read from the sources also when these are compiled. */
function compiled<View extends object>(name: string): (view: View) => string {
  const filename = packageFile(`src/forms/views/${name}.ejs`)
  const options = { filename, strict: true, _with: false, localsName: 'it' }
  return ejs.compile(readFileSync(filename, 'utf8'), options)
}

import { type Brand, languageCodes, languageFor, languageOf } from '../accounts/index.js'
import { compiledView, type Page, type PageRequest } from '../http/index.js'
import { coloursPath } from '../preferences/index.js'
import { wordsIn } from './words/index.js'
import type { FormWords } from './words/words.js'

interface Frame {
  language: string
  title: string
  logo: string | undefined
  /** The address of the brand's colours; undefined: the default ones. */
  colours: string | undefined
}

/** A form as the hosted page shows it. */
export interface HostedView extends Frame {
  action: string
  stamp: string
  /** How many bits of work the browser must do (`work.ts`); undefined: none. */
  work: number | undefined
  words: FormWords
  fields: {
    name: string
    label: string
    type: 'text' | 'email' | 'date' | 'choice' | 'number'
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
  link?: { href: string; text: string } | undefined
  form?: {
    action: string
    button: string
    hidden: readonly (readonly [string, string])[]
    work: number | undefined
    working: string
  }
}

export const renderHosted = compiledView<HostedView>('forms/views/form')
export const renderStep = compiledView<StepView>('forms/views/step')

/** A page that no search engine may list; `headers` override the defaults. */
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

/** The page for an address without a form, or with a former one, in the browser's language. */
export function noFormPage({ header }: Pick<PageRequest, 'header'>): Page {
  const browser = header('accept-language')
  const { noForm, language } =
    wordsIn[languageOf(languageFor({ browser, account: null, offered: languageCodes }))]
  return formPage(renderStep({ language, ...noForm, logo: undefined, colours: undefined }), 404)
}

/** The page for every link that leads nowhere, whatever is wrong with it. */
export function gonePage(): Page {
  const { gone, language } = wordsIn.en
  return formPage(renderStep({ language, ...gone, logo: undefined, colours: undefined }), 404)
}

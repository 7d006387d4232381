import { accountFace, brandOf } from '../accounts/index.js'
import type { Page } from '../http/index.js'
import type { Store } from '../store/index.js'
import { listTopics } from '../topics/index.js'
import type { SignupForm } from './form.js'
import type { SignupTokens } from './links.js'
import { type SentFields, sentName, type TypedFaults } from './typed.js'
import { formPage, frameOf, gonePage, type HostedView, renderHosted } from './view.js'
import { wordsIn } from './words/index.js'
import { workOf } from './work.js'

interface HostedDeps {
  store: Store
  clock: { now(): number }
  tokens: SignupTokens
}

/** The form, empty or with what was typed and what is wrong with it. */
export async function hosted(
  { store: { read }, clock, tokens }: HostedDeps,
  form: SignupForm,
  again: { given: SentFields; faults: TypedFaults } | undefined,
): Promise<Page> {
  const face = await accountFace(read, form.accountId)
  if (face === undefined) return gonePage()
  const brand = await brandOf(read, form.accountId)
  const view = await hostedView(read, form, { brand, face, again })
  const stamp = tokens.stamp(form.publicId)
  const work = workOf(form, clock.now())
  // With this header the form's post says where it was sent from, which the record of consent keeps.
  const headers = { 'Referrer-Policy': 'same-origin' }
  return formPage(renderHosted({ ...view, stamp, work }), again === undefined ? 200 : 422, headers)
}

/** The content of a form's page. */
export async function hostedView(
  read: Store['read'],
  form: Pick<SignupForm, 'accountId' | 'publicId' | 'settings'>,
  {
    brand,
    face,
    again,
  }: {
    brand: Awaited<ReturnType<typeof brandOf>>
    face: { name: string; logoId: string | null }
    again: { given: SentFields; faults: TypedFaults } | undefined
  },
): Promise<Omit<HostedView, 'stamp' | 'work'>> {
  const { settings } = form
  const words = wordsIn[settings.language]
  const offered = settings.topics.map((id) => id.toLowerCase())
  const topics = offered.length === 0 ? [] : await listTopics(read, form.accountId)
  const fault = (name: string) => again?.faults.get(name)
  const email = {
    name: 'email',
    label: words.email,
    type: 'email' as const,
    required: true,
    choices: [],
    value: again?.given.email ?? '',
    autocomplete: 'email',
    fault: fault('email'),
  }
  const asked = settings.fields.map(({ name, label, type, required, choices = [] }) => ({
    name: sentName(name),
    label,
    type,
    required,
    choices,
    value: again?.given.values.get(name) ?? '',
    autocomplete: { firstName: 'given-name', lastName: 'family-name' }[name],
    fault: fault(name),
  }))
  return {
    ...frameOf(brand, face.logoId, { language: words.language, title: face.name }),
    action: `/f/${form.publicId}`,
    words,
    fields: [email, ...asked],
    topics: topics
      .filter(({ id, archived }) => offered.includes(id) && !archived)
      .map(({ id, name, description }) => ({
        id,
        name,
        description,
        chosen: again?.given.offered === undefined || again.given.topics.includes(id),
      })),
    consent: settings.consent,
    agreed: again?.given.agreed ?? false,
    agreeFault: fault('agreed'),
    postal: brand.postalAddress,
  }
}

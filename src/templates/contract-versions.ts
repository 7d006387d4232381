import {
  accountRefusals,
  answer,
  foreignCursor,
  manyOf,
  operation,
  pageFields,
  pageParams,
  storageFull,
} from '../contract/index.js'
import { count, queryWhole } from '../fields/index.js'
import { example, isSaved, known, ofVersion, template } from './contract-parts.js'

const number = 'The number of the version'
const versionOf = {
  params: { ...template.params, version: queryWhole(1, 999_999_999, number) },
  about: { ...template.about, version: count(number, { minimum: 1 }) },
  notFound: 'The template has no version with this number',
  when: template.when,
}
export const listTemplateVersions = operation('GET /v1/templates/:slug/versions', {
  id: 'listTemplateVersions',
  may: 'read',
  of: template,
  query: pageParams(),
  says: () => ({
    summary: 'The versions of a template',
    answers: [
      answer(
        'The newest, which is in use, first',
        'TemplateVersions',
        { versions: manyOf(ofVersion), ...pageFields },
        {
          versions: [{ version: 3, subject: example.subject, savedAt: example.savedAt }],
          hasMore: false,
          nextCursor: null,
        },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const getTemplateVersion = operation('GET /v1/templates/:slug/versions/:version', {
  id: 'getTemplateVersion',
  may: 'read',
  of: versionOf,
  says: () => ({
    summary: 'One version of a template',
    answers: [answer('The version', 'Template', known, { ...example, version: 2 })],
  }),
})

export const restoreTemplateVersion = operation(
  'POST /v1/templates/:slug/versions/:version/restore',
  {
    id: 'restoreTemplateVersion',
    may: 'full',
    audit: 'template.restore',
    of: versionOf,
    says: () => ({
      summary: 'Bring an older version back into use',
      description: 'It is saved again as the next version; those between stay.',
      answers: [isSaved()],
      refusals: [...accountRefusals, storageFull],
    }),
  },
)

import { brand, keys } from '../accounts/contract.js'
import { automations } from '../automations/contract.js'
import { billing } from '../billing/contract.js'
import { broadcasts } from '../broadcasts/contract.js'
import { contactFields } from '../contact-fields/contract.js'
import { contacts } from '../contacts/contract.js'
import { type Contract, operation } from '../contract/index.js'
import { dmarc } from '../dmarc/contract.js'
import { domains } from '../domains/contract.js'
import { emails } from '../emails/contract.js'
import { erasures } from '../erasure/contract.js'
import { openObject } from '../fields/index.js'
import { forms } from '../forms/contract.js'
import { operatorApi } from '../operator/contract.js'
import { pictures } from '../pictures/contract.js'
import { receiving } from '../receiving/contract.js'
import { testInbox } from '../sandbox/contract.js'
import { segments } from '../segments/contract.js'
import { stats } from '../stats/contract.js'
import { suppressions } from '../suppression/contract.js'
import { surges } from '../surges/contract.js'
import { templates } from '../templates/contract.js'
import { topics } from '../topics/contract.js'
import { webhooks } from '../webhooks/contract.js'

/** It is public: it tells what the API is, and nothing about any account. */
export const getOpenApi = operation('GET /v1/openapi.json', {
  id: 'getOpenApi',
  may: 'public',
  says: () => ({
    summary: 'This document',
    description: 'For anybody: no key is asked for and no request counted.',
    answers: [
      {
        status: 200,
        when: 'The document',
        shape: 'OpenApi',
        schema: {
          type: 'object',
          description: 'See https://spec.openapis.org/oas/v3.1.0.html',
          properties: {
            openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
            info: openObject('Title and version'),
            paths: openObject('The operations, by path and method'),
          },
          required: ['openapi', 'info', 'paths'],
        },
        value: { openapi: '3.1.0', info: { title: 'Posthorn', version: '0.1.0' }, paths: {} },
      },
    ],
  }),
})

const itself: Contract = {
  tag: { name: 'About this API', description: 'The contract in a form for machines.' },
  operations: [getOpenApi],
}

/**
 * Every domain with operations, in the order for readers; some include another folder's operations, which readers
 * look for there.
 */
export const contracts: readonly (readonly [Contract, ...Omit<Contract, 'tag'>[]])[] = [
  [emails],
  [contacts, contactFields, erasures],
  [suppressions],
  [topics],
  [forms],
  [brand],
  [segments],
  [broadcasts],
  [automations],
  [templates],
  [pictures],
  [webhooks],
  [domains, dmarc],
  [receiving],
  [keys],
  [surges],
  [testInbox],
  [stats],
  [billing],
  [itself],
]

/** What only the operator's keys may do, and only if it is switched on; no client library has it. */
export const operatorContracts: typeof contracts = [[operatorApi]]

/** How roles look over HTTP. */
import { named } from '../../platform/http/named-schema.ts';
import { Choice } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { PERMISSIONS, type Permission } from './permissions.ts';

const PermissionSchema = named('Permission', Choice(Object.keys(PERMISSIONS) as Permission[]));

const ROLE = {
  id: '6d0b7a51-1f4a-4c52-9b53-0d8a3a2f7c11',
  name: 'reader',
  permissions: ['encounters.access', 'patients.patients.list'],
  requiresSecondFactor: false,
};

const members = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  permissions: Type.Array(PermissionSchema, { minItems: 1, maxItems: 100 }),
  requiresSecondFactor: Type.Boolean({
    description: 'Whether people who hold it sign in with a second factor.',
  }),
};

/** A member with a misspelt name would otherwise be left out without a word. */
const closed = { additionalProperties: false };
export const NewRoleBody = named(
  'NewRole',
  Type.Object({ ...members, requiresSecondFactor: Type.Optional(members.requiresSecondFactor) }, closed),
);
export const RoleChangesBody = named('RoleChanges', Type.Partial(Type.Object(members), closed));

export const RoleSchema = named(
  'Role',
  Type.Object(
    { id: Type.String(), ...members, permissions: Type.Array(Type.String()) },
    { examples: [ROLE] },
  ),
);

const count = Type.Integer();
export const ListedRoleSchema = named(
  'ListedRole',
  Type.Intersect(
    [
      RoleSchema,
      Type.Object({
        holders: named(
          'RoleHolders',
          Type.Object({ EHR: count, STAFF: count }, { description: 'How many accounts hold it.' }),
        ),
      }),
    ],
    { examples: [{ ...ROLE, holders: { EHR: 3, STAFF: 0 } }] },
  ),
);

export const PermissionListSchema = named(
  'PermissionCatalogue',
  Type.Object({
    items: Type.Array(
      named(
        'CataloguedPermission',
        Type.Object(
          {
            name: Type.String(),
            allows: Type.String(),
            opens: Type.Array(
              named(
                'OpenedCall',
                Type.Object({ method: Type.String(), path: Type.String(), summary: Type.String() }),
              ),
              { description: 'Calls that it opens, below the base address.' },
            ),
          },
          {
            examples: [
              {
                name: 'patients.patients.list',
                allows: 'search patients',
                opens: [{ method: 'GET', path: '/patients/base', summary: 'Search patients' }],
              },
            ],
          },
        ),
      ),
    ),
    presets: Type.Array(
      named(
        'RolePreset',
        Type.Object(
          { name: Type.String(), permissions: Type.Array(Type.String()) },
          { examples: [{ name: 'read-only', permissions: ['patients.patients.list'] }] },
        ),
      ),
    ),
  }),
);

import pulumi
import pulumi_rekey as rekey

config = pulumi.Config()
when = {
    "initial_rotation": False,  # without this line, the first `pulumi up` resets every secret
    "rotated_since": config.get("leakedAt"),
}

# Databases that other stacks rotate. This program would reset them, and the passwords in those stacks would be wrong.
rotated_elsewhere: list[str] = []


def members(listed: rekey.GetDatabasesResult) -> dict[str, rekey.FleetMemberArgs]:
    ids = [one.database_id for one in listed.databases if one.database_id not in rotated_elsewhere]
    return {database_id: rekey.FleetMemberArgs(database_id=database_id) for database_id in ids}


# All other databases of the account.
databases = rekey.PasswordRotationFleet(
    "databases",
    databases=rekey.get_databases_output().apply(members),
    **when,
)
vectors = rekey.VectorTokenRotation("vectors", index_id="idx-vectors", **when)
search = rekey.SearchTokenRotation("search", index_id="idx-search", **when)
keys = rekey.SigningKeyRotation("keys", min_interval=config.get("minInterval"), **when)
# After the signing keys: a roll is sent with this token.
queue = rekey.QueueTokenRotation(
    "queue",
    queue_user_id="00000000-0000-4000-8000-000000000001",
    opts=pulumi.ResourceOptions(depends_on=[keys]),
    **when,
)

# Fails the run if a new password or token is not accepted, or an old one still is.
proofs = [
    rekey.CredentialVerification("databases", access=databases.access),
    rekey.CredentialVerification("vectors", access=vectors.access),
    rekey.CredentialVerification("search", access=search.access),
    rekey.CredentialVerification("queue", access=queue.access),
]

pulumi.export("redis", databases.connection_urls)
pulumi.export("vectorToken", vectors.token)
pulumi.export("searchToken", search.token)
pulumi.export("queueToken", queue.token)
pulumi.export("currentKey", keys.current_key)
pulumi.export("nextKey", keys.next_key)
pulumi.export("verifiedAt", [proof.verified_at for proof in proofs])

package main

import (
	"example.com/pulumi-rekey/sdk/go/rekey"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		// The account that the stack's configuration or the environment names.
		sessions, err := rekey.NewPasswordRotation(ctx, "sessions", &rekey.PasswordRotationArgs{
			DatabaseId: pulumi.String("96ad0856-03b1-4ee7-9666-e81abd0349e1"),
			// Without this line, the first `pulumi up` resets the password.
			InitialRotation: pulumi.Bool(false),
			Version:         pulumi.Float64(1),
		})
		if err != nil {
			return err
		}
		verification, err := rekey.NewCredentialVerification(ctx, "sessions", &rekey.CredentialVerificationArgs{
			Access: sessions.Access,
		})
		if err != nil {
			return err
		}
		orders, err := rekey.NewFlowControlReset(ctx, "orders", &rekey.FlowControlResetArgs{
			FlowControlKey: pulumi.String("orders"),
			Version:        pulumi.Float64(1),
		})
		if err != nil {
			return err
		}
		emails := rekey.GetFlowControlKeyOutput(ctx, rekey.GetFlowControlKeyOutputArgs{
			FlowControlKey: pulumi.String("emails"),
		})

		// Another account, with its own credentials.
		conf := config.New(ctx, "")
		second, err := rekey.NewProvider(ctx, "second", &rekey.ProviderArgs{
			Platform: pulumi.String("upstash"),
			BaseUrl:  pulumi.String(conf.Require("secondUrl")), // only to try it on the local platform
			Username: pulumi.String(conf.Require("secondUsername")),
			Password: conf.RequireSecret("secondPassword"),
		})
		if err != nil {
			return err
		}
		secondSessions, err := rekey.NewPasswordRotation(ctx, "secondSessions", &rekey.PasswordRotationArgs{
			DatabaseId:      pulumi.String("6f3b1c1e-0d7a-4c52-9f0e-2b1f5a8c7d90"),
			InitialRotation: pulumi.Bool(false),
			Version:         pulumi.Float64(1),
		}, pulumi.Provider(second))
		if err != nil {
			return err
		}

		ctx.Export("password", sessions.Password)
		ctx.Export("secondPassword", secondSessions.Password)
		ctx.Export("verifiedAt", verification.VerifiedAt)
		ctx.Export("resetAt", orders.ResetAt)
		ctx.Export("waiting", emails.WaitListSize())
		return nil
	})
}

package main

import (
	"github.com/OWNER/pulumi-rekey/sdk/go/rekey"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		// The account that the stack's configuration or the environment names.
		sessions, err := rekey.NewPasswordRotation(ctx, "sessions", &rekey.PasswordRotationArgs{
			DatabaseId: pulumi.String("db-sessions"),
			Version:    pulumi.Float64(1),
		})
		if err != nil {
			return err
		}
		verification, err := rekey.NewPasswordVerification(ctx, "sessions", &rekey.PasswordVerificationArgs{
			Rotation: sessions,
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
			BaseUrl:  pulumi.String(conf.Require("secondUrl")),
			Username: pulumi.String(conf.Require("secondUsername")),
			Password: conf.RequireSecret("secondPassword"),
		})
		if err != nil {
			return err
		}
		secondSessions, err := rekey.NewPasswordRotation(ctx, "secondSessions", &rekey.PasswordRotationArgs{
			DatabaseId: pulumi.String("db-sessions"),
			Version:    pulumi.Float64(1),
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

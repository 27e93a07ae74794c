package host

import (
	"crypto/tls"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/types/known/durationpb"

	reprisev1 "github.com/reprise-rpa/reprise/gen/reprise/v1"
	"github.com/reprise-rpa/reprise/server/dispatch"
	"github.com/reprise-rpa/reprise/server/pending"
	"github.com/reprise-rpa/reprise/server/replay"
	"github.com/reprise-rpa/reprise/server/settings"
)

// The agent says that an action runs after the first and again after the second.
const (
	progressAfter    = 200 * time.Millisecond
	progressInterval = 5 * time.Second
)

func machineConfig(s settings.Settings) dispatch.Config {
	skip := map[string]bool{}
	for _, k := range s.SkipKinds {
		skip[k] = true
	}
	return dispatch.Config{
		Policy: replay.Policy{
			MaxResends: s.MaxResends, MaxRetries: s.MaxRetries, MaxDeliveries: s.MaxDeliveries,
			SwallowedInput: s.SwallowedInputActions, SkipKinds: skip, RequeueAtTail: s.RepushPosition == settings.Tail,
		},
		Timeouts:          pending.Timeouts{Receipt: s.ReceiptTimeout, Orphan: s.OrphanTimeout, Off: !s.Watchdog},
		OfflineGrace:      s.OfflineGrace,
		DeadClientGiveUps: s.DeadClientGiveUps,
		DeadClientWindow:  s.DeadClientWindow,
	}
}

func sessionSettings(s settings.Settings) *reprisev1.SessionSettings {
	return &reprisev1.SessionSettings{
		PingInterval: durationpb.New(s.PingInterval), PingTimeout: durationpb.New(s.PingTimeout),
		ReportAckTimeout: durationpb.New(s.ReportAckTimeout), ActionTimeout: durationpb.New(s.ActionTimeout),
		ProgressAfter: durationpb.New(progressAfter), ProgressInterval: durationpb.New(progressInterval),
		EffectTimeout: durationpb.New(s.EffectTimeout), ResolveTimeout: durationpb.New(s.ResolveTimeout),
		MinScoreTemplate: s.MinScoreTemplate, MinScoreText: s.MinScoreText, MaxMessageBytes: int32(s.MaxMessageBytes),
		MaxPictureBytes: int64(s.EvidenceMaxBytes),
	}
}

// How much may be under way to the server before it has been read, of one call and
// of one connection: a picture at 5 MB/s over a path of 50 ms. What is under way of a
// picture is before whatever the agent says meanwhile, so on a slow path it must be little. Windows that are fixed
// also spare the ping with which gRPC measures the path at each message, to fit them.
const (
	callWindow       = 256 << 10
	connectionWindow = 1 << 20
)

// transportOptions are liveness, limits and TLS.
func transportOptions(s settings.Settings, log *slog.Logger) ([]grpc.ServerOption, error) {
	options := []grpc.ServerOption{
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: s.KeepaliveTime, Timeout: s.KeepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: s.KeepaliveMinTime, PermitWithoutStream: true}),
		grpc.MaxRecvMsgSize(s.MaxMessageBytes),
		grpc.StaticStreamWindowSize(callWindow), grpc.StaticConnWindowSize(connectionWindow),
	}
	if s.TLSCertFile == "" {
		return options, nil
	}
	cert := &certificate{certFile: s.TLSCertFile, keyFile: s.TLSKeyFile, log: log}
	good, err := cert.load()
	if err != nil {
		return nil, err
	}
	cert.good = good
	creds := credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: cert.get})
	return append(options, grpc.Creds(creds)), nil
}
